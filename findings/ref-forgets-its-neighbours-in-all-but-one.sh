#!/usr/bin/env bash
# One would expect: a schema that one validator enforces is enforced by the others, as they name the same draft; or a line that has no effect is reported.
# What happens: beside $ref, draft 7 ignores each other key. ajv 8, which editors and many build steps use, enforces them all the same, so a limit
# written there looks tried and is none in Python, Rust and Go. With draft 2020-12 those that know it refuse alike; fastjsonschema and npm's jsonschema,
# which do not know it, read it as an older draft and say nothing.
# Versions: ajv 8.20.0, @cfworker/json-schema 4.1.6, jsonschema 1.5.0 (npm), jsonschema 4.26.0, jsonschema-rs 0.61.2, fastjsonschema 2.22.3 (PyPI),
# santhosh-tekuri/jsonschema 6.0.3 (Go). Date: 2026-11-28. Source: draft 7 core, 8.3 (all other properties beside $ref are ignored) and ajv's notes on 8.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent ajv@8.20.0 @cfworker/json-schema@4.1.6 jsonschema@1.5.0 >/dev/null
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check jsonschema==4.26.0 jsonschema-rs==0.61.2 fastjsonschema==2.22.3
body='"type": "object", "properties": {"limit": {"$ref": "#/definitions/count", "type": "integer", "maximum": 5}}, "definitions": {"count": {"type": "integer"}}'
echo "{\"\$schema\": \"http://json-schema.org/draft-07/schema#\", $body}" >draft7.json
echo "{\"\$schema\": \"https://json-schema.org/draft/2020-12/schema\", $body}" >draft2020.json
cat >check.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { Validator as Cfworker } from '@cfworker/json-schema';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Validator } from 'jsonschema';
for (const [draft, Class, name] of [['draft7', Ajv, '7'], ['draft2020', Ajv2020, '2020-12']]) {
  const schema = JSON.parse(readFileSync(`${draft}.json`, 'utf8'));
  const says = (valid) => (valid ? 'takes 9' : 'refuses 9');
  console.log(`${draft}: ajv ${says(new Class().validate(schema, { limit: 9 }))}`);
  console.log(`${draft}: @cfworker ${says(new Cfworker(schema, name).validate({ limit: 9 }).valid)}`);
  console.log(`${draft}: jsonschema (npm) ${says(new Validator().validate({ limit: 9 }, schema).valid)}`);
}
JS
cat >check.py <<'PY'
import json
import fastjsonschema, jsonschema, jsonschema_rs
def fast(schema):
    try:
        return bool(fastjsonschema.compile(schema)({'limit': 9}))
    except fastjsonschema.JsonSchemaValueException:
        return False
for draft in ['draft7', 'draft2020']:
    schema = json.load(open(f'{draft}.json'))
    says = lambda valid: 'takes 9' if valid else 'refuses 9'
    print(f"{draft}: jsonschema (Python) {says(jsonschema.validators.validator_for(schema)(schema).is_valid({'limit': 9}))}")
    print(f"{draft}: jsonschema-rs {says(jsonschema_rs.validator_for(schema).is_valid({'limit': 9}))}")
    print(f'{draft}: fastjsonschema {says(fast(schema))}')
PY
cat >check.go <<'GO'
package main
import ("fmt"; "github.com/santhosh-tekuri/jsonschema/v6")
func main() {
	for _, draft := range []string{"draft7", "draft2020"} {
		schema, err := jsonschema.NewCompiler().Compile(draft + ".json")
		if err != nil { panic(err) }
		says := "takes 9"
		if schema.Validate(map[string]any{"limit": 9}) != nil { says = "refuses 9" }
		fmt.Println(draft+": santhosh-tekuri", says)
	}
}
GO
{ go mod init check; go get github.com/santhosh-tekuri/jsonschema/v6@v6.0.3; go mod tidy; } 2>/dev/null
{ node check.mjs; py/bin/python check.py; go run check.go; } | sort | tee seen
diff - seen <<'E2'
draft2020: @cfworker refuses 9
draft2020: ajv refuses 9
draft2020: fastjsonschema takes 9
draft2020: jsonschema (Python) refuses 9
draft2020: jsonschema (npm) takes 9
draft2020: jsonschema-rs refuses 9
draft2020: santhosh-tekuri refuses 9
draft7: @cfworker takes 9
draft7: ajv refuses 9
draft7: fastjsonschema takes 9
draft7: jsonschema (Python) takes 9
draft7: jsonschema (npm) takes 9
draft7: jsonschema-rs takes 9
draft7: santhosh-tekuri takes 9
E2
