"""What the scripts of this folder share: the comparison with a record, and the source package of llama.cpp's
Python bindings, which holds files of real models: chat templates, and vocabularies with what the models'
own tokenizers make of some texts. These files are not kept here: pip fetches them."""
import pathlib
import subprocess
import sys
import tarfile

PACKAGE = "llama_cpp_python==0.3.36"
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"


def settle(record, text):
    """Writes the text of a record with --write, compares it with the record otherwise: an exit status."""
    if "--write" in sys.argv[1:]:
        record.write_text(text)
        return 0
    if record.read_text() == text:
        return 0
    print(f"{record} differs: run with --write and look at the difference")
    return 1


def fetched(folder, wanted):
    """The files of llama.cpp's models/ whose path `wanted` takes, laid side by side in `folder`."""
    folder = pathlib.Path(folder)
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-binary", ":all:", "--no-deps",
                    "--no-build-isolation", "-d", folder, PACKAGE], check=True)
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            inside = member.name.partition("/vendor/llama.cpp/models/")[2]
            if member.isfile() and inside and wanted(inside):
                member.name = pathlib.PurePath(inside).name
                tar.extract(member, folder, filter="data")
    return folder
