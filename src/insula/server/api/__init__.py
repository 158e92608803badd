"""The routes that programs use; `/openapi.json` describes them."""
