#!/usr/bin/env bash
# One would expect: a text that a YAML library writes is a text for each other library, as the writer puts quotes where they are needed.
# What happens: a writer quotes what it would misread itself. PyYAML (YAML 1.1) writes the identifiers 7e10, 08 and 0o17 bare, and js-yaml, yaml and
# yaml.v3 read 70000000000, 8 and 15. yaml and ruamel.yaml (YAML 1.2) write off and 1:30 bare, and PyYAML reads False and 90. So a file that
# passes through two languages changes account numbers and short commit hashes. js-yaml quotes these five for both worlds.
# Versions: PyYAML 6.0.4, ruamel.yaml 0.19.1 (PyPI), yaml 2.9.1, js-yaml 5.5.0 (npm), gopkg.in/yaml.v3 3.0.1 (Go). Date: 2026-11-28.
# Source: YAML 1.2.2, 10.3.2 (core schema) beside the float and int types of YAML 1.1, where an exponent needs a dot and a sign.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent yaml@2.9.1 js-yaml@5.5.0 >/dev/null
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check PyYAML==6.0.4 ruamel.yaml==0.19.1
cat >texts.py <<'PY'
import io, json, sys
import yaml
from ruamel.yaml import YAML
if sys.argv[1] == 'write':
    texts = ['7e10', '08', '0o17', 'off', '1:30']
    yaml.safe_dump(texts, open('PyYAML.yaml', 'w'))
    YAML().dump(texts, open('ruamel.yaml.yaml', 'w'))
else:
    for writer in sys.argv[2:]:
        print(f'{writer} writes, PyYAML reads', json.dumps(yaml.safe_load(open(f'{writer}.yaml'))))
        print(f'{writer} writes, ruamel.yaml reads', json.dumps(YAML(typ='safe', pure=True).load(open(f'{writer}.yaml'))))
PY
cat >texts.mjs <<'JS'
import { readFileSync, writeFileSync } from 'node:fs';
import { dump, load } from 'js-yaml';
import { parse, stringify } from 'yaml';
const [task, ...writers] = process.argv.slice(2);
const texts = ['7e10', '08', '0o17', 'off', '1:30'];
if (task === 'write') {
  writeFileSync('yaml.yaml', stringify(texts));
  writeFileSync('js-yaml.yaml', dump(texts));
} else for (const writer of writers) for (const [name, read] of [['yaml', parse], ['js-yaml', load]]) {
  console.log(`${writer} writes, ${name} reads`, JSON.stringify(read(readFileSync(`${writer}.yaml`, 'utf8'))));
}
JS
cat >texts.go <<'GO'
package main
import ("encoding/json"; "fmt"; "os"; "gopkg.in/yaml.v3")
func main() {
	for _, writer := range os.Args[1:] {
		text, _ := os.ReadFile(writer + ".yaml")
		var texts []any
		if err := yaml.Unmarshal(text, &texts); err != nil { panic(err) }
		shown, _ := json.Marshal(texts)
		fmt.Println(writer, "writes, yaml.v3 reads", string(shown))
	}
}
GO
{ go mod init texts; go get gopkg.in/yaml.v3@v3.0.1; } 2>/dev/null
py/bin/python texts.py write
node texts.mjs write
writers=(PyYAML ruamel.yaml yaml js-yaml)
{ node texts.mjs read "${writers[@]}"; py/bin/python texts.py read "${writers[@]}"; go run texts.go "${writers[@]}"; } | sed 's/, "/,"/g; s/, \([0-9tf]\)/,\1/g' | sort | tee seen
diff - seen <<'E2'
PyYAML writes, PyYAML reads ["7e10","08","0o17","off","1:30"]
PyYAML writes, js-yaml reads [70000000000,8,15,"off","1:30"]
PyYAML writes, ruamel.yaml reads [70000000000.0,8,15,"off","1:30"]
PyYAML writes, yaml reads [70000000000,8,15,"off","1:30"]
PyYAML writes, yaml.v3 reads [70000000000,8,15,"off","1:30"]
js-yaml writes, PyYAML reads ["7e10","08","0o17","off","1:30"]
js-yaml writes, js-yaml reads ["7e10","08","0o17","off","1:30"]
js-yaml writes, ruamel.yaml reads ["7e10","08","0o17","off","1:30"]
js-yaml writes, yaml reads ["7e10","08","0o17","off","1:30"]
js-yaml writes, yaml.v3 reads ["7e10","08","0o17","off","1:30"]
ruamel.yaml writes, PyYAML reads ["7e10","08","0o17",false,90]
ruamel.yaml writes, js-yaml reads ["7e10","08","0o17","off","1:30"]
ruamel.yaml writes, ruamel.yaml reads ["7e10","08","0o17","off","1:30"]
ruamel.yaml writes, yaml reads ["7e10","08","0o17","off","1:30"]
ruamel.yaml writes, yaml.v3 reads ["7e10","08","0o17","off","1:30"]
yaml writes, PyYAML reads ["7e10","08","0o17",false,90]
yaml writes, js-yaml reads ["7e10","08","0o17","off","1:30"]
yaml writes, ruamel.yaml reads ["7e10","08","0o17","off","1:30"]
yaml writes, yaml reads ["7e10","08","0o17","off","1:30"]
yaml writes, yaml.v3 reads ["7e10","08","0o17","off","1:30"]
E2
