#!/usr/bin/env bash
# One would expect: one Mustache template and one JSON value make one text, as the language has a specification and the engines pass its tests.
# What happens: the count 0 opens a section in Handlebars alone, and is lost in it: "bounces: " goes out where others say "none". From JSON, the engine for Go writes
# 1000000 as 1e+06, and null as <nil>, escaped; pystache writes None. {{.}} in a section over a number is empty in Hogan. A template for alerts that was
# tried in one language is not tried in another.
# Versions: mustache 4.2.0, handlebars 4.7.10, hogan.js 3.0.2 (npm), chevron 0.14.0, pystache 0.6.8 (PyPI), cbroglie/mustache 1.4.2 (Go).
# Date: 2026-11-28. Source: mustache(5) calls "false values" closed and leaves 0 open; encoding/json gives each number as float64.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent mustache@4.2.0 handlebars@4.7.10 hogan.js@3.0.2 >/dev/null
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check chevron==0.14.0 pystache==0.6.8
echo '{"zero": 0, "nothing": null, "sent": 1000000}' >data.json
cat >templates <<'TXT'
{{#zero}}bounces: {{zero}}{{/zero}}{{^zero}}none{{/zero}}
[{{nothing}}]
{{sent}}
{{#sent}}[{{.}}]{{/sent}}
TXT
cat >render.mjs <<'JS'
import { readFileSync } from 'node:fs';
import handlebars from 'handlebars';
import hogan from 'hogan.js';
import mustache from 'mustache';
const data = JSON.parse(readFileSync('data.json', 'utf8'));
for (const template of readFileSync('templates', 'utf8').trim().split('\n')) {
  console.log(`${template} mustache.js: ${mustache.render(template, data)}`);
  console.log(`${template} Handlebars: ${handlebars.compile(template)(data)}`);
  console.log(`${template} Hogan: ${hogan.compile(template).render(data)}`);
}
JS
cat >render.py <<'PY'
import json
import chevron, pystache
data = json.load(open('data.json'))
for template in open('templates').read().splitlines():
    print(f'{template} chevron: {chevron.render(template, data)}')
    print(f'{template} pystache: {pystache.render(template, data)}')
PY
cat >render.go <<'GO'
package main
import ("encoding/json"; "fmt"; "os"; "strings"; "github.com/cbroglie/mustache")
func main() {
	var data map[string]any
	text, _ := os.ReadFile("data.json")
	json.Unmarshal(text, &data)
	templates, _ := os.ReadFile("templates")
	for _, template := range strings.Split(strings.TrimSpace(string(templates)), "\n") {
		made, err := mustache.Render(template, data)
		if err != nil { panic(err) }
		fmt.Println(template, "Go: "+made)
	}
}
GO
{ go mod init render; go get github.com/cbroglie/mustache@v1.4.2; } 2>/dev/null
{ node render.mjs; py/bin/python render.py; go run render.go; } | LC_ALL=C sort | tee seen
diff - seen <<'E2'
[{{nothing}}] Go: [&lt;nil&gt;]
[{{nothing}}] Handlebars: []
[{{nothing}}] Hogan: []
[{{nothing}}] chevron: []
[{{nothing}}] mustache.js: []
[{{nothing}}] pystache: [None]
{{#sent}}[{{.}}]{{/sent}} Go: [1e+06]
{{#sent}}[{{.}}]{{/sent}} Handlebars: [1000000]
{{#sent}}[{{.}}]{{/sent}} Hogan: []
{{#sent}}[{{.}}]{{/sent}} chevron: [1000000]
{{#sent}}[{{.}}]{{/sent}} mustache.js: [1000000]
{{#sent}}[{{.}}]{{/sent}} pystache: [1000000]
{{#zero}}bounces: {{zero}}{{/zero}}{{^zero}}none{{/zero}} Go: none
{{#zero}}bounces: {{zero}}{{/zero}}{{^zero}}none{{/zero}} Handlebars: bounces: 
{{#zero}}bounces: {{zero}}{{/zero}}{{^zero}}none{{/zero}} Hogan: none
{{#zero}}bounces: {{zero}}{{/zero}}{{^zero}}none{{/zero}} chevron: none
{{#zero}}bounces: {{zero}}{{/zero}}{{^zero}}none{{/zero}} mustache.js: none
{{#zero}}bounces: {{zero}}{{/zero}}{{^zero}}none{{/zero}} pystache: none
{{sent}} Go: 1e+06
{{sent}} Handlebars: 1000000
{{sent}} Hogan: 1000000
{{sent}} chevron: 1000000
{{sent}} mustache.js: 1000000
{{sent}} pystache: 1000000
E2
