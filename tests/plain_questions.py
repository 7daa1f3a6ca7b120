"""Questions that make sense alone, in three languages."""

PLAIN = {
    "German": [
        "Wie lange ist eine Gästekarte gültig?",
        "Wann darf der Tresor nachts geöffnet werden?",
        "Was steht im Kaufvertrag über die Rückgabe von Fahrrädern?",
        "Wer hat den Text der Nationalhymne geschrieben?",
        "Wie kann ich ein Dokument unterschreiben lassen?",
        "Auf welcher Seite der Fähre parken Busse?",
        "Ist es erlaubt, Hunde mit an Bord zu nehmen?",
        "Welche Angaben gehören in diese Tabelle der Fahrpreise?",
    ],
    "French": [
        "Combien de temps une carte de visiteur est-elle valable ?",
        "Qui peut ouvrir le coffre pendant la nuit ?",
        "Comment est-il possible d'annuler un billet ?",
        "Qui est l'auteur du règlement intérieur ?",
        "Que faut-il écrire dans la section des remarques ?",
        "Où trouver le texte de la convention collective ?",
    ],
    "Spanish": [
        "¿Cuánto tiempo es válida la tarjeta de visitante?",
        "¿Quién puede abrir la caja fuerte por la noche?",
        "¿Cómo puedo firmar un documento sin impresora?",
        "¿Quién es el autor del reglamento de la empresa?",
        "¿En qué página de la web se compran los billetes?",
        "¿Qué dice la ley sobre los reembolsos?",
    ],
}
