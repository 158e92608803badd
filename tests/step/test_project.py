"""What of a project is code: by its path, by its root, and by what git is told to ignore."""

import os
from pathlib import Path

import pytest

from insula.step.action import CODE, SETTINGS
from insula.step.project import checks_commits, fits, packages, role, role_in, root_of

ROLES = {
    **dict.fromkeys(("src/a.py", "apps/web/app/page.tsx", "main.go", "lib/x.rb", "infra/main.tf", "Dockerfile"), CODE),
    **dict.fromkeys(("package.json", "values.yaml", "Cargo.toml", "app.css", "schema.sql", "run.sh"), SETTINGS),
    **dict.fromkeys(
        (
            *(
                "README.md",
                "guide.mdx",
                "docs/conf.py",
                ".env.example",
                ".github/workflows/ci.yml",
                ".claude/x.py",
                "notes",
            ),
            *(
                "scratch/try.py",
                "tmp_probe.py",
                "dist/a.js",
                "node_modules/x/i.js",
                "api_pb2.py",
                "types.d.ts",
                "x.log",
            ),
            *(
                "package-lock.json",
                "yarn.lock",
                "/tmp/try.py",
                "/private/tmp/a/x.ts",
                "vendor/a.go",
                "tests/fixtures/a.py",
            ),
        ),
        "",
    ),
}


@pytest.mark.parametrize("path", ROLES)
def test_a_file_is_code_by_its_path(path: str) -> None:
    assert role(path) == ROLES[path]


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "repo" / ".git" / "info").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "info" / "exclude").write_text("private.py\n")
    (tmp_path / "repo" / "packages" / "api" / "src").mkdir(parents=True)
    (tmp_path / "repo" / "packages" / "api" / "package.json").write_text('{"name": "@acme/server", "private": true}')
    return os.path.realpath(tmp_path / "repo")


def test_what_lies_outside_of_the_root_is_none_of_its_code(root: str, tmp_path: Path) -> None:
    assert role_in(root, f"{root}/src/new.py") == CODE
    for path in (f"{tmp_path}/other/a.py", f"{root}/../a.py", f"{root}2/a.py", f"{root}/a\0b/c.py"):
        assert role_in(root, path) == ""


def test_a_link_out_of_the_project_leads_out_of_it(root: str, tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    Path(root, "link").symlink_to(tmp_path / "else")
    assert role_in(root, f"{root}/link/a.py") == ""


def test_what_git_is_told_to_ignore_is_no_code(root: str) -> None:
    Path(root, ".gitignore").write_text("*.gen.py\n/local/\n!keep.gen.py\n**/cache/*.py\n# a comment\n\n")
    Path(root, "packages", ".gitignore").write_text("out.py\n!api/out.py\n")
    ignored = ("a.gen.py", "local/a.py", "x/cache/a.py", "private.py", "packages/web/out.py")
    kept = ("a.py", "x/local/a.py", "cache.py", "packages/api/out.py")
    assert [path for path in (*ignored, *kept) if role_in(root, f"{root}/{path}") == CODE] == list(kept)


def test_what_is_tracked_though_it_is_ignored_is_code(root: str) -> None:
    Path(root, ".gitignore").write_text("*.py\n")
    Path(root, ".git", "index").write_bytes(b"DIRC....src/a.py\0...")
    assert (role_in(root, f"{root}/src/a.py"), role_in(root, f"{root}/src/b.py")) == (CODE, "")


def test_a_pipe_in_the_place_of_a_gitignore_holds_nothing_up(root: str) -> None:
    os.mkfifo(f"{root}/.gitignore")
    assert role_in(root, f"{root}/a.py") == CODE


@pytest.mark.parametrize(
    ("pattern", "path", "folder", "yes"),
    [
        ("*.py", "a/b.py", False, True),
        ("/a.py", "a.py", False, True),
        ("/a.py", "x/a.py", False, False),
        ("a/b", "a/b", False, True),
        ("a/b", "x/a/b", False, False),
        ("build/", "build", True, True),
        ("build/", "build", False, False),
        ("**/x", "a/b/x", False, True),
        ("a/**", "a/b/c", False, True),
        ("a/**/c", "a/c", False, True),
        ("?.py", "ab.py", False, False),
        ("[a-c].py", "b.py", False, True),
        ("[!a].py", "b.py", False, True),
        ("\\#x", "#x", False, True),
        ("*", "a/b", False, True),
    ],
)
def test_patterns_fit_as_git_has_them(pattern: str, path: str, folder: bool, yes: bool) -> None:
    assert fits(pattern, path, folder) == yes


def test_a_file_is_of_the_package_whose_manifest_is_nearest(root: str) -> None:
    assert packages(root, f"{root}/packages/api/src/a.ts") == ("packages/api", "@acme/server")
    assert packages(root, f"{root}/a.ts") == ()


def test_the_root_is_that_of_the_repository_else_the_folder(root: str, tmp_path: Path) -> None:
    assert root_of(f"{root}/packages/api") == root
    assert root_of(str(tmp_path)) == os.path.realpath(tmp_path)
    assert root_of("a\0b") == ""


def test_a_hook_of_the_project_s_own_checks_its_commits(root: str) -> None:
    assert not checks_commits(root)
    Path(root, ".pre-commit-config.yaml").write_text("repos: []")
    assert checks_commits(root)
