#!/usr/bin/env bash
# One would expect: the Date of a message is one moment, whoever reads it. "09:00:00 EST" is 14:00 in UTC: RFC 5322 still obliges readers to know EST,
# EDT, CST, CDT, MST, MDT, PST and PDT, and some old mail servers write them into bounces.
# What happens: Go's net/mail, and go-message and enmime with it, take a zone by name that the machine's own zone does not have for UTC, without an
# error. So the same mail is five hours older in a container (UTC) than on a server in New York; PDT is wrong on both. A date without the space after the
# comma, which the grammar allows, is an error. luxon, postal-mime and Python read the zones alike everywhere.
# Versions: go-message 0.18.2, enmime 2.3.0 (Go 1.26), luxon 3.7.2, postal-mime 4.0.0 (npm). Date: 2026-11-28.
# Source: RFC 5322, 3.3 and 4.3; Go's documentation of time.Parse says that an unknown abbreviation gets an offset of zero, that of net/mail nothing.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent luxon@3.7.2 postal-mime@4.0.0 >/dev/null
cat >read.go <<'GO'
package main
import ("fmt"; "os"; "strings"; "time"; gomessage "github.com/emersion/go-message/mail"; "github.com/jhillyerd/enmime/v2")
func show(t time.Time, err error) string {
	if err != nil { return "error" }
	return t.UTC().Format("15:04")
}
func main() {
	for _, date := range os.Args[1:] {
		text := "Date: " + date + "\r\n\r\nHello\r\n"
		reader, _ := gomessage.CreateReader(strings.NewReader(text))
		envelope, _ := enmime.ReadEnvelope(strings.NewReader(text))
		fmt.Printf("%s: go-message %s, enmime %s\n", date, show(reader.Header.Date()), show(envelope.Date()))
	}
}
GO
cat >read.mjs <<'JS'
import { DateTime } from 'luxon';
import PostalMime from 'postal-mime';
for (const date of process.argv.slice(2)) {
  const read = { luxon: DateTime.fromRFC2822(date).toUTC().toISO() ?? 'error', 'postal-mime': (await PostalMime.parse(`Date: ${date}\r\n\r\nHello\r\n`)).date };
  console.log(`${date}: ${Object.entries(read).map(([name, time]) => `${name} ${time.replace(/.*T(..:..).*/, '$1')}`).join(', ')}`);
}
JS
{ go mod init read; go get github.com/emersion/go-message@v0.18.2 github.com/jhillyerd/enmime/v2@v2.3.0; go mod tidy; } 2>/dev/null
dates=('Tue, 10 Mar 2026 09:00:00 -0500' 'Tue, 10 Mar 2026 09:00:00 EST' 'Tue, 10 Mar 2026 09:00:00 PDT' 'Tue,10 Mar 2026 09:00:00 -0500')
for zone in UTC America/New_York; do
  echo "On a machine in $zone"
  TZ=$zone go run read.go "${dates[@]}"
  TZ=$zone node read.mjs "${dates[@]}"
  TZ=$zone python3 -c 'import sys; from email.utils import parsedate_to_datetime as parse; from datetime import timezone
for date in sys.argv[1:]: print(f"{date}: Python {parse(date).astimezone(timezone.utc):%H:%M}")' "${dates[@]}"
done | tee seen
diff - seen <<'E2'
On a machine in UTC
Tue, 10 Mar 2026 09:00:00 -0500: go-message 14:00, enmime 14:00
Tue, 10 Mar 2026 09:00:00 EST: go-message 09:00, enmime 09:00
Tue, 10 Mar 2026 09:00:00 PDT: go-message 09:00, enmime 09:00
Tue,10 Mar 2026 09:00:00 -0500: go-message error, enmime error
Tue, 10 Mar 2026 09:00:00 -0500: luxon 14:00, postal-mime 14:00
Tue, 10 Mar 2026 09:00:00 EST: luxon 14:00, postal-mime 14:00
Tue, 10 Mar 2026 09:00:00 PDT: luxon 16:00, postal-mime 16:00
Tue,10 Mar 2026 09:00:00 -0500: luxon error, postal-mime 14:00
Tue, 10 Mar 2026 09:00:00 -0500: Python 14:00
Tue, 10 Mar 2026 09:00:00 EST: Python 14:00
Tue, 10 Mar 2026 09:00:00 PDT: Python 16:00
Tue,10 Mar 2026 09:00:00 -0500: Python 14:00
On a machine in America/New_York
Tue, 10 Mar 2026 09:00:00 -0500: go-message 14:00, enmime 14:00
Tue, 10 Mar 2026 09:00:00 EST: go-message 14:00, enmime 14:00
Tue, 10 Mar 2026 09:00:00 PDT: go-message 09:00, enmime 09:00
Tue,10 Mar 2026 09:00:00 -0500: go-message error, enmime error
Tue, 10 Mar 2026 09:00:00 -0500: luxon 14:00, postal-mime 14:00
Tue, 10 Mar 2026 09:00:00 EST: luxon 14:00, postal-mime 14:00
Tue, 10 Mar 2026 09:00:00 PDT: luxon 16:00, postal-mime 16:00
Tue,10 Mar 2026 09:00:00 -0500: luxon error, postal-mime 14:00
Tue, 10 Mar 2026 09:00:00 -0500: Python 14:00
Tue, 10 Mar 2026 09:00:00 EST: Python 14:00
Tue, 10 Mar 2026 09:00:00 PDT: Python 16:00
Tue,10 Mar 2026 09:00:00 -0500: Python 14:00
E2
