#!/bin/sh
# A framework's tests in an environment of its own: run.sh NAME highest|lowest-direct
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
here="$root/.venv-integrations/$1-$2"
uv="${UV:-$root/.venv/bin/uv}"
unset VIRTUAL_ENV UV_PYTHON
case $1 in
	langchain) needs='langchain>=1,<2 langchain-openai>=1,<2' ;;
	pydantic-ai) needs='pydantic-ai-slim[openai]>=2.60,<3' ;;
	openai-agents) needs='openai-agents>=0.20,<1' ;;
	claude-agent-sdk) needs='claude-agent-sdk>=0.2.110,<1' alone="sh $root/tests/e2e/alone.sh" ;; # it brings a real client
	clients) needs='openai>=2,<4 anthropic>=1,<3' ;;
	*) echo "insula: there is no integration $1" >&2; exit 2 ;;
esac
"$uv" venv --quiet --allow-existing "$here"
"$uv" pip install --quiet --python "$here/bin/python" --editable "$root" pytest
# shellcheck disable=SC2086 # each word is a package
"$uv" pip install --quiet --resolution "$2" --python "$here/bin/python" $needs
echo "insula: $1, $2" >&2
[ "$2" = lowest-direct ] || "$root/.venv/bin/python" "$root/tools/typed.py" "$here/bin/python"
case $1 in # as a reader of the docs does it, where the fake server speaks the library's protocol
	langchain) "$here/bin/python" "$root/tests/e2e/integrations/docs_block.py" langchain ;;
	pydantic-ai) "$here/bin/python" "$root/tests/e2e/integrations/docs_block.py" pydantic_ai ;;
	clients) "$here/bin/python" "$root/tests/e2e/integrations/docs_block.py" openai ;;
esac
cd "$root/tests/e2e/integrations"
# shellcheck disable=SC2086
PYTHONPATH=".:$root/tests" ${alone:-} "$here/bin/python" -m pytest -q -p no:cacheprovider -c /dev/null --rootdir . --confcutdir . \
	"$(echo "$1" | tr - _)_agent.py"
