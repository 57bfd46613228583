import torch

from spatialstudio.adapters.stickers.training.train_perception import class_shares


def test_an_output_pixel_is_shared_by_the_classes_it_covers():
    classes = torch.tensor([[[0, 0, 2, 2], [0, 1, 2, 2]]])
    shares = class_shares(classes, torch.zeros(1, 3, 1, 2))
    torch.testing.assert_close(shares[0, :, 0, 0], torch.tensor([0.75, 0.25, 0.0]))
    torch.testing.assert_close(shares[0, :, 0, 1], torch.tensor([0.0, 0.0, 1.0]))
