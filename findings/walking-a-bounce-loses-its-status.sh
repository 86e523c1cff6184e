#!/usr/bin/env bash
# One would expect: get_content() of a part gives its content, and walk() over a bounce of three parts yields its parts.
# What happens: for message/delivery-status, Python's email package makes a message of each block of fields. get_content() returns the first one alone: the
# name of the server that reports. Recipients, Action and Status are not in it, and nothing is raised. walk() yields each block as a further text/plain
# with no text, so who looks for the first or last text of a bounce, or counts parts, takes those. get_payload() has all blocks as messages.
# flufl.bounce, which uses them so, names both recipients.
# Versions: Python 3.11 (email), flufl.bounce 6.0.0 (PyPI). Date: 2026-11-28.
# Source: RFC 3464, 2.1; raw_data_manager in Lib/email/contentmanager.py handles message types it does not know by their first payload.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check flufl.bounce==6.0.0
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

Final-Recipient: rfc822; sophia@example.net
Action: delayed
Status: 4.2.2

--part
Content-Type: text/rfc822-headers

Subject: Hello

--part--
EML
cat >read.py <<'PY'
from email import message_from_binary_file, policy
from flufl.bounce import all_failures
bounce = message_from_binary_file(open('bounce.eml', 'rb'), policy=policy.default)
status = next(part for part in bounce.walk() if part.get_content_type() == 'message/delivery-status')
print('get_content():', status.get_content())
print('get_payload():', [block['Status'] for block in status.get_payload()])
print('walk():', *(part.get_content_type() for part in bounce.walk()))
print('text/plain:', [part.get_content() for part in bounce.walk() if part.get_content_type() == 'text/plain'])
delayed, failed = all_failures(bounce)
print('flufl.bounce: delayed', *delayed, 'failed', *failed)
PY
py/bin/python read.py | tee seen
diff - seen <<'E2'
get_content(): b'Reporting-MTA: dns; mx.example.com\n\n'
get_payload(): [None, '5.1.1', '4.2.2']
walk(): multipart/report text/plain message/delivery-status text/plain text/plain text/plain text/rfc822-headers
text/plain: ['Your message was not delivered.\n', '', '', '']
flufl.bounce: delayed b'sophia@example.net' failed b'oliver@example.net'
E2
