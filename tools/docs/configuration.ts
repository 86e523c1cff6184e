// docs/configuration.md: every key with its kind, default and meaning, from the schema.
import { type FileShape, fileShape, variantsOf } from '../../src/config/settings.ts';

const head = `# Configuration

<!-- Written by \`npm run docs\`. Edit tools/docs/configuration.ts, or the schemas in src/config and src/channels. -->

The configuration is one YAML file. [config.example.yaml](../config.example.yaml) shows every key with its default.

\`\`\`sh
warmwarden check          # every problem in the file
warmwarden check --show   # the settings in force, and the source of each
\`\`\`

- A missing key has its default. Unknown keys are errors.
- Put a value that contains \`#\` in quotes: after a space, \`#\` begins a comment.
- Shares end with %: \`0.5%\`. Durations have a unit: \`250ms\`, \`30s\`, \`5m\`, \`4h\`, \`1d\`. Cron is in UTC, with an optional field for seconds in front. A day of the
  month and a day of the week must both fit.
- Where the kind is \`text/file\`, the key with \`_file\` names a file instead: \`api_key_file: secrets/acme\`. The path is relative to the configuration.
  Warmwarden uses a replaced file within seconds.
- The configuration may have 1 MiB, a secret or a recipe 64 KiB. All must be regular files, or symbolic links to them.

Editors check the file with [config.schema.json](../config.schema.json) beside it, if this is the first line ([what was tried](compatibility.md#editors-and-validators)):

\`\`\`yaml
# yaml-language-server: $schema=./config.schema.json
\`\`\`

## Environment variables

\`\`\`yaml
accounts:
  - {name: acme, base_url: "\${API:-https://mailboxes.example.com}", api_key: "\${ACME_API_KEY}"}
\`\`\`

Values come from the environment as it was at the start. An unset variable without a default is an error. The braces are required.

## Several files

\`\`\`yaml
# config.yaml
include: conf.d/*.yaml

# conf.d/north.yaml
x-vip: &vip {tags: [vip], guard: {enforce: false}}
accounts:
  - name: north
    base_url: https://mailboxes.example.com
    api_key_file: ../secrets/north
    overrides:
      - {<<: *vip, match: "*@vip.north.example"}
alerts:
  channels:
    - {name: north, type: slack, url_file: ../secrets/north-slack}
  routes:
    - {match: {account: north}, channels: [north]}
\`\`\`

- Files are merged in the order of their names, or of a list of patterns. A pattern without a file is a mistake.
- Lists are joined: accounts, channels, routes, overrides. Accounts of the same name become one.
- Any other key may be in one file only. A conflict names both places.
- Relative paths begin in the folder of the file that has them. An included file can't include others.
- Top-level keys that begin with \`x-\` are ignored. Merge keys (\`<<\`) work within one file.

## Changing it while the daemon runs

\`\`\`sh
warmwarden reload --dry-run   # what would change
warmwarden reload             # or SIGHUP
\`\`\`

A file with a mistake changes nothing: \`config_wrong\` fires, and the log says why. So does a file that removes more than 20% of the guarded mailboxes, or
every channel except recipes, unless you add \`--force\`.

| changed | effect |
| --- | --- |
| \`guard\`, \`overrides\`, \`mailboxes\` | applies to the next answers |
| address, key or rate limit of an account; \`poll\`, \`api\` | the loop of the account starts again; spent requests still count |
| \`proxy\` | the loops of all accounts start again, and the HTTP channels are replaced |
| an account is gone | its alerts end |
| a channel | replaced; the new one sends what waits under its name |
| the last channel is gone | needs \`--force\`; then only the page shows alerts, and \`protection_off\` ([notifications](notifications.md#without-a-channel)) |
| \`store\`, \`server.listen\`, \`server.public_url\`, \`log.format\`, http or https | needs a restart, as the answer says |

## Keys
`;

/** Ends with a line break. */
export function configurationText(): string {
  const sections = Object.entries(fileShape().properties ?? {}).filter(([key]) => !key.endsWith('_file'));
  return `${head}\n${sections.map(([key, shape]) => sectionText(key, shape)).join('\n')}`;
}

interface Row {
  readonly key: string;
  readonly shape: FileShape;
  readonly required: boolean;
  /** Whether KEY_file can hold the value. */
  readonly inFile: boolean;
}

/** What is often changed in a section. A test loads each of them. */
const examples: Readonly<Record<string, string>> = {
  accounts: `accounts:
  - name: acme
    base_url: https://mailboxes.example.com
    api_key_file: secrets/acme
    plan: enterprise
    mailboxes: {exclude: ["*@test.acme.example"]}
    overrides:
      - {match: "ceo@acme.example", guard: {on_breach: alert}}`,
  poll: 'poll: {spare_share: 0%}    # nothing beyond the cadence',
  guard: `guard:
  enforce: false
  limits: {balanced: 0.8%}`,
  api: 'api: {status_words: {paused: [paused, frozen]}}',
  alerts: `alerts:
  channels:
    - {name: ops, type: slack, url_file: secrets/slack}
  rules:
    bounce_near_limit: {enabled: false}`,
  store: 'store: {url: "postgres://warmwarden@db.example.com/warmwarden", password_file: secrets/db}',
  server: `server:
  public_url: https://warmwarden.example.com    # a reverse proxy with TLS
  trusted_proxies: [127.0.0.1]
  auth:
    tokens:
      - {name: anna, sha256_file: secrets/anna, role: operator}`,
  log: 'log: {level: warn}',
  metrics: 'metrics: {mailbox_label: id}',
  proxy: 'proxy: http://proxy.example.com:3128',
  recipes: 'recipes: {directory: /etc/warmwarden/recipes}',
  retention: 'retention: {history: 90d}',
};

const rulesExample = `alerts:
  rules:
    blacklisted: {major: ["*.spamhaus.org"], ignore: ["*.example.org"]}
    reputation_low: {inbox_below: 70%, for: 1h}
    guard_acted: {recovery: info}`;

const rulesAt = 'alerts.rules';
const ruleKey = /^alerts\.rules\.\w+(\.(enabled|severity|for))?$/;

/** Mappings whose keys stand elsewhere: those of an override are those of guard, those of a digest are those of a route. */
const toldElsewhere = /(overrides\[\]\.guard|digests\[\]\.match)$/;

function sectionText(key: string, shape: FileShape): string {
  const rows = mergedRows(rowsOf(shape, key).filter(({ key: path }) => !ruleKey.test(path)));
  const example = examples[key] === undefined ? '' : `\n\`\`\`yaml\n${examples[key]}\n\`\`\`\n`;
  const about = `### ${key}\n\n${shape.description ?? ''}\n${example}`;
  if (rows.length === 0) return about;
  const table = `| key | kind | default | meaning |\n| --- | --- | --- | --- |\n${rows.map(rowText).join('\n')}\n`;
  return `${about}\n${table}${key === 'alerts' ? `\n${rulesText(shape.properties?.['rules'] ?? {})}` : ''}`;
}

function rowText({ key, shape, required, inFile }: Row): string {
  const written = shape.default === undefined || shape.properties ? '' : `\`${JSON.stringify(shape.default)}\``;
  const kind = inFile ? 'text/file' : kindOf(shape);
  return `| \`${key}\` | ${kind} | ${required ? 'required' : written} | ${shape.description ?? ''} |`;
}

/** The keys below a shape. Where a list holds several types of a thing, each type has its own: `channels[slack].url`. */
function rowsOf(shape: FileShape, path: string): readonly Row[] {
  return variantsOf(shape).flatMap((variant) => {
    const { properties = {}, items, required } = variant;
    const type = properties['type']?.const;
    const base = type === undefined ? path : path.replace(/\[\]$/, `[${String(type)}]`);
    // The word that tells the types apart comes first.
    const entries = Object.entries(properties).sort(([a], [b]) => Number(b === 'type') - Number(a === 'type'));
    const rows = entries.flatMap(([name, inner]): readonly Row[] => {
      if (name.replace(/_file$/, '') in properties && name.endsWith('_file')) return [];
      const key = `${base}.${name}`;
      const row = {
        key,
        shape: inner,
        required: required?.includes(name) ?? false,
        inFile: `${name}_file` in properties,
      };
      return toldElsewhere.test(key) ? [row] : [row, ...rowsOf(inner, key)];
    });
    return items ? [...rows, ...rowsOf(items, `${path}[]`)] : rows;
  });
}

/** Describes a key once if most types of a channel have it in the same words: `channels[].name`. */
function mergedRows(rows: readonly Row[]): readonly Row[] {
  const anyType = ({ key }: Row) => key.replace(/\[\w+\]/, '[]');
  const textOf = (row: Row) => rowText({ ...row, key: anyType(row) });
  const counts = Map.groupBy(rows, textOf);
  const merged = rows.map((row) => ((counts.get(textOf(row))?.length ?? 0) > 2 ? { ...row, key: anyType(row) } : row));
  const seen = new Set<string>();
  const once = merged.filter(({ key }) => !seen.has(key) && seen.add(key));
  const isShared = ({ key }: Row) => once.some((row) => row.key === key) && /channels\[\]\./.test(key);
  const first = once.findIndex(({ key }) => /channels\[/.test(key));
  const shared = once.filter(isShared);
  return shared.length === 0
    ? once
    : [...once.slice(0, first), ...shared, ...once.slice(first).filter((row) => !isShared(row))];
}

/** Rules as one table: the keys that every rule has are described once. */
function rulesText(rules: FileShape): string {
  const rows = Object.entries(rules.properties ?? {}).map(([name, { properties = {} }]) => {
    const defaultOf = (key: string) => String(properties[key]?.default ?? '-');
    const own = Object.keys(properties).filter((key) => !ruleKey.test(`${rulesAt}.${name}.${key}`));
    const keys = own.map((key) => `\`${key}\``).join(', ');
    return `| [\`${name}\`](runbooks.md#${name}) | ${defaultOf('severity')} | ${defaultOf('for')} | ${keys} |`;
  });
  return `Every rule is on. \`enabled: false\` stops its messages and ends its firing alerts; \`stale_data\` has no such key. \`for\` is how long the condition must last before the alert fires. A rule with - has
no such key.

\`\`\`yaml
${rulesExample}
\`\`\`

| rule | \`severity\` | \`for\` | own keys |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function kindOf(shape: FileShape): string {
  if (shape.const !== undefined) return `\`${String(shape.const)}\``;
  if (shape.enum) return shape.enum.map((word) => `\`${String(word)}\``).join(', ');
  if (shape.anyOf ?? shape.oneOf) return [...new Set(variantsOf(shape).map(kindOf))].join(' or ');
  if (shape.items) return 'list';
  if (shape.properties ?? shape.additionalProperties) return 'mapping';
  if (shape.type === 'integer') return `${shape.minimum ?? ''}-${shape.maximum ?? ''}`;
  return shape.title ?? { boolean: 'true/false', number: 'number', string: 'text' }[shape.type ?? ''] ?? 'text';
}
