"""Which messages want an answer that a program reads."""

import pytest

from insula.text.payload import is_payload


@pytest.mark.parametrize(
    "message",
    [
        "Return only JSON with the keys name and size for the largest planet.",
        'Respond with a JSON object {"name": ..., "size": ...}.',
        "The three largest lakes, please. Output valid CSV only, no prose.",
        "What is the largest planet? Answer as JSON.",
        "Extract the dates below: YAML only.",
        "Responde solo con JSON.",
        "Devuelve los datos como CSV.",
        "Renvoie uniquement du JSON.",
        "Réponds en XML : le titre et l'auteur.",
        "Gib nur JSON zurück.",
        "Bitte antworte als CSV mit zwei Spalten.",
        "Responda apenas em JSON.",
        "Rispondi solo in formato JSON.",
        "请只返回JSON。",
        "用JSON格式输出三个城市。",
        "JSON形式で出力してください。",
        "JSONのみで返してください。",
    ],
)
def test_a_message_that_demands_a_format_for_programs(message: str) -> None:
    assert is_payload(message)


@pytest.mark.parametrize(
    "message",
    [
        "How do I parse JSON in Python?",
        "What is the difference between JSON and YAML?",
        "I hate JSON.",
        "My son is called Jason, answer him.",
        "Explain this CSV file to me.",
        "¿Qué es JSON?",
        "Comment lire un fichier CSV ?",
        "Wie öffne ich eine CSV-Datei?",
        "O que é XML?",
        "Che cos'è YAML?",
        "JSON是什么？",
        "JSONとは何ですか？",
        "Why is the sky blue? Answer in bullets.",
    ],
)
def test_a_question_about_a_format_is_for_a_person(message: str) -> None:
    assert not is_payload(message)
