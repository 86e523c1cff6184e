#!/usr/bin/env bash
# One would expect: a parser of whole messages gives each part of a bounce (multipart/report, RFC 3464) somewhere: as text, attachment or unhandled part.
# What happens: mail-parser for Python drops the message/delivery-status part: no recipient, no Status, no Diagnostic-Code is in text, attachments, the
# unhandled parts, or the JSON of the message, and it reports no defect. mailparser for Node.js has all of it, by default at the end of the text.
# Who counts bounces with it sees a message that says "not delivered", and neither to whom nor why.
# Versions: mail-parser 4.8.0 (PyPI), mailparser 3.9.30 (npm). Date: 2026-11-28. Source: RFC 3464; the README of mail-parser.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mail-parser==4.8.0
npm install --no-audit --no-fund --silent mailparser@3.9.30 >/dev/null
cat >bounce.eml <<'EML'
From: MAILER-DAEMON@mx.example.com
To: amelia@example.org
Subject: Undelivered Mail
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="part"

--part
Content-Type: text/plain; charset=us-ascii

Your message was not delivered.

--part
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.com

Final-Recipient: rfc822; oliver@example.net
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 No such user

--part--
EML
cat >read.py <<'PY'
import mailparser
bounce = mailparser.parse_from_file('bounce.eml')
print('mail-parser: text', bounce.text_plain, 'attachments', len(bounce.attachments), 'unhandled', len(bounce.text_not_managed))
print('mail-parser: the status is in the JSON:', '5.1.1' in bounce.mail_json, '; defects:', bounce.has_defects)
PY
cat >read.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
const { text } = await simpleParser(readFileSync('bounce.eml'));
console.log('mailparser: the status is in the text:', text.includes('Status: 5.1.1'));
JS
{ venv/bin/python read.py; node read.mjs; } | tee seen
diff - seen <<'E2'
mail-parser: text ['Your message was not delivered.\n'] attachments 0 unhandled 0
mail-parser: the status is in the JSON: False ; defects: False
mailparser: the status is in the text: true
E2
