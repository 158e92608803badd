"""Repositories, payloads and messages that mean harm, played against every command and every host's hook."""
