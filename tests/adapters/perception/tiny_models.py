"""Writes every supported model as a folder: real code and files, tiny random weights.

The processors and tokenizers are the models' own, saved as a download would bring them.
"""

import json
import string
from pathlib import Path

import torch
import transformers as hf

CLASSES = ("person", "dog", "motorbike", "tvmonitor", "teddy bear")
STUFF_CLASSES = (*CLASSES, "sky-other-merged")
WORDS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", ".", "dog", "car", "fire", "hydrant"),
    *("ted", "##dy", "bear", "photo", "of"),
)
SMALL = {"height": 64, "width": 64}


def write_model(name: str, folder: Path) -> None:
    """Write the folder of a model family."""
    torch.manual_seed(0)
    WRITERS[name](folder)


def grounding_dino(folder: Path) -> None:
    config = hf.GroundingDinoConfig(
        backbone_config=_swin(out_indices=[2, 3, 4]),
        text_config=hf.BertConfig(
            vocab_size=len(WORDS),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
        ),
        **_small_transformer(),
        decoder_ffn_dim=16,
        encoder_ffn_dim=16,
        num_queries=30,
        encoder_n_points=2,
        decoder_n_points=2,
        num_feature_levels=3,
    )
    _write(hf.GroundingDinoForObjectDetection(config), folder)
    tokenizer = hf.BertTokenizer(vocab={word: number for number, word in enumerate(WORDS)})
    pictures = hf.GroundingDinoImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 96})
    hf.GroundingDinoProcessor(pictures, tokenizer).save_pretrained(folder)


def owlvit(folder: Path) -> None:
    config = hf.OwlViTConfig(
        text_config=_clip_text(),
        vision_config=_vision(image_size=64, patch_size=16),
        projection_dim=16,
    )
    _write(hf.OwlViTForObjectDetection(config), folder)
    pictures = hf.OwlViTImageProcessorPil(size=SMALL, do_center_crop=False)
    hf.OwlViTProcessor(pictures, _clip_tokenizer()).save_pretrained(folder)


def owlv2(folder: Path) -> None:
    config = hf.Owlv2Config(
        text_config=_clip_text(),
        vision_config=_vision(image_size=64, patch_size=16),
        projection_dim=16,
    )
    _write(hf.Owlv2ForObjectDetection(config), folder)
    pictures = hf.Owlv2ImageProcessorPil(size=SMALL)
    hf.Owlv2Processor(pictures, _clip_tokenizer()).save_pretrained(folder)


def detr(folder: Path) -> None:
    config = hf.DetrConfig(
        backbone_config=hf.ResNetConfig(
            embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], out_features=["stage2"]
        ),
        **_small_transformer(),
        decoder_ffn_dim=16,
        encoder_ffn_dim=16,
        num_queries=12,
        **_labels(CLASSES),
    )
    _write(hf.DetrForObjectDetection(config), folder)
    hf.DetrImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 96}).save_pretrained(folder)


def rt_detr(folder: Path) -> None:
    config = hf.RTDetrConfig(
        backbone_config=hf.RTDetrResNetConfig(
            embedding_size=8,
            hidden_sizes=[8, 16, 16, 16],
            depths=[1, 1, 1, 1],
            layer_type="basic",
            out_features=["stage2", "stage3", "stage4"],
        ),
        encoder_in_channels=[16, 16, 16],
        decoder_in_channels=[16, 16, 16],
        encoder_hidden_dim=16,
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        d_model=16,
        num_queries=12,
        decoder_ffn_dim=16,
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_n_points=2,
        **_labels(CLASSES),
    )
    _write(hf.RTDetrForObjectDetection(config), folder)
    hf.RTDetrImageProcessorPil(size=SMALL).save_pretrained(folder)


def mask2former(folder: Path) -> None:
    _write_mask2former(folder, CLASSES)


def mask2former_panoptic(folder: Path) -> None:
    _write_mask2former(folder, STUFF_CLASSES)


def clipseg(folder: Path) -> None:
    config = hf.CLIPSegConfig(
        text_config=_clip_text(),
        vision_config=_vision(image_size=64, patch_size=16),
        projection_dim=16,
        extract_layers=[0, 1],
        reduce_dim=16,
        decoder_num_attention_heads=2,
        decoder_intermediate_size=16,
    )
    _write(hf.CLIPSegForImageSegmentation(config), folder)
    pictures = hf.ViTImageProcessorPil(size=SMALL)
    hf.CLIPSegProcessor(pictures, _clip_tokenizer()).save_pretrained(folder)


def sam(folder: Path) -> None:
    config = hf.SamConfig(
        vision_config={
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 64,
            "patch_size": 16,
            "output_channels": 16,
            "mlp_dim": 16,
            "global_attn_indexes": [0],
            "window_size": 2,
            "num_pos_feats": 8,
        },
        prompt_encoder_config={
            "hidden_size": 16,
            "image_size": 64,
            "patch_size": 16,
            "image_embedding_size": 4,
            "mask_input_channels": 8,
        },
        mask_decoder_config={
            "hidden_size": 16,
            "mlp_dim": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "iou_head_hidden_dim": 16,
        },
    )
    _write(hf.SamModel(config), folder)
    pictures = hf.SamImageProcessorPil(size={"longest_edge": 64}, pad_size=SMALL)
    hf.SamProcessor(pictures).save_pretrained(folder)


def sam2(folder: Path) -> None:
    config = hf.Sam2Config(
        vision_config=hf.Sam2VisionConfig(
            backbone_config=hf.Sam2HieraDetConfig(
                hidden_size=8,
                num_attention_heads=1,
                image_size=[64, 64],
                blocks_per_stage=[1, 2, 1, 1],
                embed_dim_per_stage=[8, 16, 32, 64],
                num_attention_heads_per_stage=[1, 1, 2, 2],
                window_size_per_stage=[8, 4, 4, 4],
                window_positional_embedding_background_size=[4, 4],
                global_attention_blocks=[2],
            ),
            backbone_channel_list=[64, 32, 16, 8],
            backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]],
            fpn_hidden_size=16,
        ),
        prompt_encoder_config={"hidden_size": 16, "image_size": 64, "mask_input_channels": 8},
        mask_decoder_config={
            "hidden_size": 16,
            "mlp_dim": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "iou_head_hidden_dim": 16,
        },
    )
    _write(hf.Sam2Model(config), folder)
    # NOTE: its image processor needs torchvision; these are the lines a download brings.
    lines = {
        "image_processor_type": "Sam2ImageProcessorFast",
        "size": SMALL,
        "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225],
        "rescale_factor": 1 / 255,
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(lines))


def depth_anything(folder: Path) -> None:
    _write_depth_anything(folder, "relative")


def depth_anything_metric(folder: Path) -> None:
    _write_depth_anything(folder, "metric")


def dpt(folder: Path) -> None:
    config = hf.DPTConfig(
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=64,
        patch_size=16,
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
        readout_type="project",
        is_hybrid=False,
    )
    _write(hf.DPTForDepthEstimation(config), folder)
    hf.DPTImageProcessorPil(size=SMALL).save_pretrained(folder)


def _write_mask2former(folder: Path, classes: tuple[str, ...]) -> None:
    config = hf.Mask2FormerConfig(
        backbone_config=_swin(out_features=["stage1", "stage2", "stage3", "stage4"]),
        feature_size=32,
        mask_feature_size=32,
        hidden_dim=32,
        encoder_feedforward_dim=16,
        encoder_layers=1,
        decoder_layers=2,
        num_attention_heads=2,
        dim_feedforward=16,
        num_queries=10,
        **_labels(classes),
    )
    _write(hf.Mask2FormerForUniversalSegmentation(config), folder)
    hf.Mask2FormerImageProcessorPil(size=SMALL).save_pretrained(folder)


def _write_depth_anything(folder: Path, kind: str) -> None:
    config = hf.DepthAnythingConfig(
        backbone_config=hf.Dinov2Config(
            hidden_size=16,
            num_hidden_layers=4,
            num_attention_heads=2,
            mlp_ratio=1,
            image_size=70,
            patch_size=14,
            out_indices=[1, 2, 3, 4],
            reshape_hidden_states=False,
            apply_layernorm=True,
        ),
        reassemble_hidden_size=16,
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
        head_hidden_size=8,
        depth_estimation_type=kind,
    )
    _write(hf.DepthAnythingForDepthEstimation(config), folder)
    hf.DPTImageProcessorPil(
        size={"height": 70, "width": 70}, keep_aspect_ratio=True, ensure_multiple_of=14
    ).save_pretrained(folder)


def _write(model: torch.nn.Module, folder: Path) -> None:
    model.eval().save_pretrained(folder)


def _swin(**more: object) -> hf.SwinConfig:
    return hf.SwinConfig(
        embed_dim=8,
        depths=[1, 1, 1, 1],
        num_heads=[1, 1, 2, 2],
        window_size=2,
        image_size=64,
        **more,
    )


def _small_transformer() -> dict[str, int]:
    return {
        "d_model": 32,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
    }


def _clip_text() -> dict[str, int]:
    return {
        "vocab_size": 600,
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 32,
        "bos_token_id": 512,
        "eos_token_id": 513,
        "pad_token_id": 513,
    }


def _vision(**more: int) -> dict[str, int]:
    return {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        **more,
    }


def _clip_tokenizer() -> hf.CLIPTokenizer:
    """Make a tokenizer that spells letter by letter."""
    letters = string.ascii_lowercase
    pieces = [*letters, *(f"{letter}</w>" for letter in letters)]
    pieces += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    return hf.CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=32)


def _labels(classes: tuple[str, ...]) -> dict[str, object]:
    names = dict(enumerate(classes))
    return {"id2label": names, "label2id": {name: number for number, name in names.items()}}


WRITERS = {
    "grounding-dino": grounding_dino,
    "owlvit": owlvit,
    "owlv2": owlv2,
    "detr": detr,
    "rt-detr": rt_detr,
    "mask2former": mask2former,
    "mask2former-panoptic": mask2former_panoptic,
    "clipseg": clipseg,
    "sam": sam,
    "sam2": sam2,
    "depth-anything": depth_anything,
    "depth-anything-metric": depth_anything_metric,
    "dpt": dpt,
}
