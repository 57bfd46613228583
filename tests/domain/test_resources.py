from spatialstudio.domain import resources


def test_a_checkout_has_its_data_beside_the_package():
    assert (resources.resources_folder() / "models" / "stickers").is_dir()


def test_an_installed_package_has_its_data_within(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "spatialstudio"
    (package / "resources").mkdir(parents=True)
    (tmp_path / "site-packages" / "resources").mkdir()
    monkeypatch.setattr(resources, "__file__", str(package / "domain" / "resources.py"))
    assert resources.resources_folder() == package.resolve() / "resources"
