// docs/configuration.md: every key with its kind, default and meaning, from the schema.
import { type FileShape, fileShape, variantsOf } from '../../src/config/settings.ts';

const head = `# Configuration

<!-- Written by \`npm run docs\` from src/config/schema.ts: change it there. -->

The configuration is one YAML file. [config.example.yaml](../config.example.yaml) shows every key with its default, in
its place; on this page you can look up each key. \`warmwarden check\` lists every problem in a file. \`check --show\`
prints the settings in force and where each value came from. \`check --mailbox ADDRESS\` prints the guard settings of
one mailbox, with its overrides. Every command that uses the configuration takes \`--config FILE\`. Without it the file
is \`WARMWARDEN_CONFIG\`, else \`./config.yaml\`, else \`/etc/warmwarden/config.yaml\`.

- Unknown keys are errors. A key without a value counts as missing. A missing key has its default.
- \`\${NAME}\` and \`\${NAME:-default}\` are taken from the environment, in values only; a variable that is not set is an error.
  The braces are required: Warmwarden does not replace \`$NAME\`.
- In a value without quotes, a # after a space begins a comment. If a secret contains a #, put it in quotes.
- \`api_key\`, \`url\` and \`secret\`, and \`cert\` and \`key\` of \`server.tls\`, can be written as \`api_key_file\` and so on: the path of a file, relative to
  the folder of the configuration. Warmwarden reads that file every few seconds: when the secret is replaced there, it uses the new one.
- Configuration, secrets and recipes must be regular files, or symbolic links to them: never a FIFO, a socket or a
  device. A configuration may be up to 1 MiB, and a secret or a recipe up to 64 KiB.
- Requests to other services go through a proxy as \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\` say, or the key \`proxy\`
  ([proxies and private authorities](access.md#outgoing-requests-proxies-and-private-authorities)).
- Shares are written with % (\`10%\`, \`0.5%\`), durations with a unit (\`250ms\`, \`30s\`, \`5m\`, \`4h\`, \`1d\`), cron in UTC (a day of the month and a day of the week must both fit), with
  an optional leading field for seconds.
- Editors complete and check the file with [config.schema.json](../config.schema.json), which the first line of the
  example names.

## Changing it while the daemon runs

Use \`warmwarden reload\`, SIGHUP, or \`POST /-/reload\` (\`?dry_run=true\`, \`?force=true\`). Over HTTP a reload needs an operator's
token where \`server.auth\` has tokens, and none where it has none.
\`reload --dry-run\` says what would change: settings, accounts, mailboxes, verdicts that change. Warmwarden
reads and checks the file first. A file with a mistake changes nothing: the log says so, \`config_wrong\` fires, and
\`warmwarden_config_last_reload_successful\` is 0 until the next valid file. The same happens with a file
that removes more than 20 % of the guarded mailboxes, or every channel except recipes. If you intend that, use
\`--force\`, which shows the effect and asks first (\`--yes\` without a terminal). When \`warmwarden reload\` itself cannot read the file (it is
empty, gone or not YAML), it says so, exits with 2, and does not ask the daemon.

| changed | what happens |
| --- | --- |
| \`guard\`, \`overrides\`, \`mailboxes\` of an account | its loop continues; the new rules apply to its next answers |
| address, key, rate limit or headroom of an account; \`poll\`, \`api\` | its loop starts again after it has read back what it sent; spent requests still count |
| an account that is new or gone | its loop begins, or ends in the same way; the alerts of a removed account end |
| a channel | only that channel is replaced; what waits in the outbox under its name is sent by the new one |
| \`proxy\` | every account's loop starts again, and every HTTP channel is replaced |
| every channel except recipes is gone (\`--force\`) | they get \`protection_off\` as their last message, with the name of the file ([alerts](alerts.md#without-a-channel)) |
| \`store\`, \`server.listen\`, \`server.public_url\`, \`log.format\`, and https instead of http | the answer says that it needs a restart |

Environment variables keep their values from the start: a running process cannot get new ones.

## Tokens

With \`server.auth.tokens\`, everything but \`/healthz\`, \`/readyz\` and \`/openapi.json\` needs a token, as a Bearer token or as the
password of Basic authentication with any user name. In a browser, people sign in with it ([access and security](access.md)). \`warmwarden token new NAME --role ROLE\` makes one and prints the lines for the
configuration, which has only its SHA-256. The digest of an empty text is an error.

After 10 wrong tokens from one address (IPv6: one /64) within a minute, Warmwarden answers further wrong ones for up to a minute with
status 429 and Retry-After. A correct token is always accepted, even from the same address. The log has a line for each of the ten. The
keys of the recipe API (\`recipes.api_keys\`) are guarded in the same way.

## Keys
`;

/** Ends with a line break. */
export function configurationText(): string {
  const sections = Object.entries(fileShape().properties ?? {}).map(([key, shape]) => sectionText(key, shape));
  return `${head}\n${sections.join('\n')}`;
}

interface Row {
  readonly key: string;
  readonly shape: FileShape;
  readonly required: boolean;
}

/** Rules as one table: the keys that every rule has are described once. */
const rulesAt = 'alerts.rules';
const ruleKey = /^alerts\.rules\.\w+(\.(enabled|severity|for))?$/;

function rulesText(rules: FileShape): string {
  const defaultOf = (rule: FileShape, key: string) => String(rule.properties?.[key]?.default ?? '-');
  const lines = Object.entries(rules.properties ?? {}).map(
    ([name, rule]) =>
      `| [\`${name}\`](alerts.md#${name}) | ${defaultOf(rule, 'severity')} | ${defaultOf(rule, 'for')} |`,
  );
  const keys = ['enabled', 'severity', 'for'].map((key) => {
    const having = Object.values(rules.properties ?? {}).find(({ properties }) => properties?.[key]);
    const shape = having?.properties?.[key] ?? {};
    return `| \`${rulesAt}.RULE.${key}\` | ${kindOf(shape)} | ${shape.description ?? ''} |`;
  });
  return [
    'Every rule has these keys, except where its row in the second table says -. By default, `enabled` is true.',
    '',
    '| key | kind | meaning |',
    '| --- | --- | --- |',
    ...keys,
    '',
    '| rule | `severity` | `for` |',
    '| --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}

function sectionText(key: string, shape: FileShape): string {
  const rows = rowsOf(shape, key).filter(({ key: path }) => !ruleKey.test(path));
  const lines = rows.map(({ key: path, shape: inner, required }) => {
    const written = inner.default === undefined || inner.properties ? '' : `\`${JSON.stringify(inner.default)}\``;
    return `| \`${path}\` | ${kindOf(inner)} | ${required ? 'required' : written} | ${inner.description ?? ''} |`;
  });
  return [
    `### ${key}`,
    '',
    shape.description ?? '',
    '',
    '| key | kind | default | meaning |',
    '| --- | --- | --- | --- |',
  ]
    .concat(lines, '')
    .concat(key === 'alerts' ? rulesText(shape.properties?.['rules'] ?? {}) : [])
    .join('\n');
}

/** The keys below a shape. Where a list holds several types of a thing, each type has its own: `channels[slack].url`. */
function rowsOf(shape: FileShape, path: string): readonly Row[] {
  return variantsOf(shape).flatMap((variant) => {
    const { properties = {}, items, required } = variant;
    const type = properties['type']?.const;
    const base = type === undefined ? path : path.replace(/\[\]$/, `[${String(type)}]`);
    const rows = Object.entries(properties).flatMap(([name, inner]): readonly Row[] => {
      const key = `${base}.${name}`;
      const row = { key, shape: inner, required: required?.includes(name) ?? false };
      // The keys of an override are those of guard: they stand there.
      return key.endsWith('overrides[].guard') ? [row] : [row, ...rowsOf(inner, key)];
    });
    return items ? [...rows, ...rowsOf(items, `${path}[]`)] : rows;
  });
}

function kindOf(shape: FileShape): string {
  if (shape.const !== undefined) return `\`${String(shape.const)}\``;
  if (shape.enum) return shape.enum.map((word) => `\`${String(word)}\``).join(', ');
  if (shape.anyOf ?? shape.oneOf) return [...new Set(variantsOf(shape).map(kindOf))].join(', or ');
  if (shape.items) return `list of ${kindOf(shape.items)}`;
  if (shape.properties) return 'mapping';
  if (shape.type === 'integer') return `${shape.minimum ?? ''} to ${shape.maximum ?? ''}`;
  return shape.title ?? { boolean: 'true or false', number: 'number', string: 'text' }[shape.type ?? ''] ?? 'text';
}
