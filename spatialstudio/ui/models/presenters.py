"""Rows and facts of the Models page."""

from collections.abc import Iterable, Mapping

from spatialstudio.application.models.downloads import (
    DownloadEntry,
    DownloadState,
    ModelsFound,
    progress_in_words,
)
from spatialstudio.application.models.machine_memory import (
    Fit,
    MachineMemory,
    fit_in_words,
    fit_of,
    needed_bytes,
)
from spatialstudio.domain.devices import size_in_words
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.hub import (
    HUB_PAGES,
    REPOSITORY,
    CatalogueEntry,
    DownloadPlan,
    InstalledModel,
    ModelOrigin,
    ModelTask,
    UnfinishedDownload,
    task_of,
)
from spatialstudio.ui.widgets.texts import tr

TASKS = {
    ModelTask.DIFFUSION: "Image generation",
    ModelTask.DETECTOR: "Detector",
    ModelTask.SEGMENTER: "Segmenter",
    ModelTask.DEPTH: "Depth",
    ModelTask.ANSWERER: "Question answerer",
    ModelTask.UNKNOWN: "Other models and files",
}


@frozen
class ModelRow:
    """A model in the list: recommended, installed, in the queue, or named by the user.

    Attributes:
        name: Repository, or id of an installed model.
        title: Display name.
        task: What it does.
        entry: Its entry in the catalogue.
        installed: It on this machine.
        unfinished: Its unfinished download.
        download: Its download in the queue.
        memory: Memory of this machine.
    """

    name: str
    title: str
    task: ModelTask = ModelTask.UNKNOWN
    entry: CatalogueEntry | None = None
    installed: InstalledModel | None = None
    unfinished: UnfinishedDownload | None = None
    download: DownloadEntry | None = None
    memory: MachineMemory = MachineMemory()

    @property
    def is_on_hub(self) -> bool:
        """Whether its name is that of a repository."""
        origin = self.installed.origin if self.installed is not None else ModelOrigin.HUB_CACHE
        is_repository = REPOSITORY.fullmatch(self.name) is not None
        return origin is ModelOrigin.HUB_CACHE and is_repository

    @property
    def kind(self) -> str:
        """Its task; for other models their class, or the content of a single file."""
        named = self.installed.architecture if self.installed is not None else ""
        return named if named and self.task is ModelTask.UNKNOWN else tr(TASKS[self.task])

    @property
    def needed_bytes(self) -> int:
        """Minimum memory without offloading; 0 if unknown."""
        return needed_bytes(self.entry, self.installed)

    @property
    def mark(self) -> str:
        """That it is too large for this machine; else empty."""
        is_too_large = fit_of(self.needed_bytes, self.memory) is Fit.TOO_LARGE
        return tr("Too large for this machine") if is_too_large else ""

    @property
    def state(self) -> str:
        """Its state in a few words; empty for a model that is only recommended."""
        if self.download is not None and self.download.state is not DownloadState.DONE:
            if self.download.progress is not None and self.download.progress.total_bytes:
                progress = self.download.progress
                share = progress.done_bytes / progress.total_bytes
                return f"{STATES[self.download.state]}, {share:.0%}"
            return tr(STATES[self.download.state])
        if self.installed is not None:
            return tr("Installed")
        return tr("Unfinished") if self.unfinished is not None else ""


STATES = {
    DownloadState.WAITING: "Waiting",
    DownloadState.RUNNING: "Downloading",
    DownloadState.PAUSED: "Paused",
    DownloadState.FAILED: "Failed",
    DownloadState.DONE: "Installed",
}


def rows_of(
    catalogue: Iterable[CatalogueEntry],
    found: ModelsFound | None,
    downloads: Iterable[DownloadEntry],
    named: Iterable[str],
) -> tuple[ModelRow, ...]:
    """Return the rows: the catalogue, then everything else that is known.

    Args:
        catalogue: The recommended models.
        found: Models on this machine; None until they are listed.
        downloads: The queue.
        named: Repositories that the user has named.
    """
    entries = {entry.repository: entry for entry in catalogue}
    queue = {each.repository: each for each in downloads}
    installed = {each.id: each for each in (found.installed if found else ())}
    unfinished = {each.repository: each for each in (found.unfinished if found else ())}
    names = dict.fromkeys((*entries, *queue, *installed, *unfinished, *named))
    return tuple(
        ModelRow(
            name=name,
            title=entries[name].title if name in entries else name,
            task=_task_of(entries.get(name), installed.get(name)),
            entry=entries.get(name),
            installed=installed.get(name),
            unfinished=unfinished.get(name),
            download=queue.get(name),
            memory=found.memory if found else MachineMemory(),
        )
        for name in names
    )


def _task_of(entry: CatalogueEntry | None, installed: InstalledModel | None) -> ModelTask:
    if entry is not None:
        return entry.task
    return task_of(installed.architecture) if installed is not None else ModelTask.UNKNOWN


def is_listed(row: ModelRow, words: str, task: ModelTask | None, *, only_installed: bool) -> bool:
    """Return True if a row matches the search words and filters."""
    text = f"{row.name} {row.title} {row.kind} {TASKS[row.task]}".casefold()
    return (
        all(word in text for word in words.casefold().split())
        and task in (None, row.task)
        and (not only_installed or row.installed is not None)
    )


def facts_of(row: ModelRow, plan: DownloadPlan | None) -> tuple[tuple[str, str], ...]:
    """Return names and values about a model, as far as they are known."""
    name = tr("Repository") if row.is_on_hub else tr("Name")
    facts: dict[str, str] = {name: row.name, tr("Task"): row.kind}
    if plan is not None:
        facts |= _plan_facts(plan)
    if row.entry is not None:
        facts |= _entry_facts(row.entry)
    if words := fit_in_words(row.needed_bytes, row.memory):
        facts[tr("This machine")] = f"{words[0].upper()}{words[1:]} ({row.memory.words})"
    if (model := row.installed) is not None:
        facts[tr("On this machine")] = f"{size_in_words(model.size_bytes)}, {model.folder}"
        facts[tr("Revision")] = model.revision
    if (cut := row.unfinished) is not None and row.download is None:
        total = f" / {size_in_words(cut.total_bytes)}" if cut.total_bytes else ""
        facts[tr("Unfinished")] = size_in_words(cut.done_bytes) + total
    return tuple((name, value) for name, value in facts.items() if value)


def links_of(row: ModelRow, plan: DownloadPlan | None) -> tuple[tuple[str, str], ...]:
    """Return texts and addresses of the web pages about a model: licence, then model page."""
    links: list[tuple[str, str]] = []
    if (source := plan or row.entry) is not None:
        name = source.licence or tr("not stated")
        links.append((tr("Licence: {name}").format(name=name), source.licence_url))
    if row.is_on_hub:
        links.append((tr("Model page on the hub"), f"{HUB_PAGES}/{row.name}"))
    return tuple(links)


def question_of(row: ModelRow, plan: DownloadPlan) -> str:
    """Return what is asked before a download: facts and licence, one per line."""
    licence = plan.licence or tr("not stated")
    facts = {**dict(facts_of(row, plan)), tr("Licence"): f"{licence}, {plan.licence_url}"}
    return "\n".join(f"{name}: {value}" for name, value in facts.items())


def progress_words(download: DownloadEntry | None) -> str:
    """Describe the progress or the failure of a download; empty without one."""
    if download is None or download.state is DownloadState.DONE:
        return ""
    if download.error is not None:
        return f"{download.error.message} {download.error.hint}"
    if download.progress is None:
        return tr(STATES[download.state])
    left = download.seconds_left if download.state is DownloadState.RUNNING else None
    words = progress_in_words(download.progress, download.bytes_per_second, left)
    return f"{tr(STATES[download.state])}: {words}"


def _plan_facts(plan: DownloadPlan) -> Mapping[str, str]:
    size = size_in_words(plan.total_bytes)
    if plan.missing_bytes != plan.total_bytes:
        size += tr(", {missing} to download").format(missing=size_in_words(plan.missing_bytes))
    return {
        tr("Size"): size,
        tr("Free space"): size_in_words(plan.free_bytes),
        tr("Revision"): f"{plan.revision} ({plan.commit})",
    }


def _entry_facts(entry: CatalogueEntry) -> Mapping[str, str]:
    memory = tr("{memory} GB of device memory without offloading").format(memory=entry.memory_gb)
    facts = {tr("Memory"): memory}
    if entry.is_gated:
        facts[tr("Access")] = tr("After accepting the licence on its page, with a token")
    if entry.size is not None:
        words = tr("{size} x {size} pixels, {steps} steps, CFG scale {scale:g}")
        facts[tr("Recommended")] = words.format(
            size=entry.size, steps=entry.steps, scale=entry.guidance_scale
        )
    return facts
