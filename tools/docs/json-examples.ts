// What docs/cli-json.md shows to copy: a line with jq, or a short answer. A test holds each to the shape of its command.

export interface JsonExample {
  readonly kind: 'sh' | 'json';
  readonly text: string;
}

const sh = (text: string): JsonExample => ({ kind: 'sh', text });
const json = (text: string): JsonExample => ({ kind: 'json', text });

export const errorExample = json(`{
  "error": {
    "code": "configuration",
    "message": "config.yaml:2:68 accounts[0].plann: unknown key (did you mean plan?)",
    "problems": [{"line": 2, "column": 68, "path": "accounts[0].plann", "message": "unknown key (did you mean plan?)"}]
  }
}`);

export const casesExample = sh(
  `echo '[{"id": "one", "mode": "slow", "now": "2026-03-20T12:00:00Z", "stats": [{"date": "2026-03-19", "sent": 300, "bounced": 3}]}]' > cases.json
warmwarden decide --cases cases.json --json | jq -r '.[] | [.id, .action, .reason] | @tsv'`,
);

/** By the words of the command. */
export const commandExamples: Readonly<Record<string, JsonExample>> = {
  check: sh(`warmwarden check --json | jq -r '.settings[] | select(.from != "default") | "\\(.path): \\(.value)"'`),
  doctor: sh(`warmwarden doctor --json | jq -r '.checks[] | select(.result == "problem") | "\\(.part): \\(.message)"'`),
  'channels test': sh(`warmwarden channels test ops --json | jq -r '"\\(.outcome), HTTP \\(.status)"'`),
  'channels preview': sh(`warmwarden channels preview guard_acted --channel ops --json | jq -r '.messages[].body'`),
  'channels resend': sh(`warmwarden channels resend ops --yes --json | jq -r .result`),
  decide: sh(`warmwarden decide --mode slow --stats stats.json | jq '{action, reason, rate_percent, limit_percent}'`),
  backtest: sh(
    `warmwarden backtest --json | jq -r '.mailboxes[] | select(.replay.interventions > 0) | [.email, .replay.bounces_avoided] | @csv'`,
  ),
  status: sh(`warmwarden status --json | jq -r '.mailboxes[] | select(.state != "ok") | [.email, .state] | @csv'`),
  'alerts list': sh(
    `warmwarden alerts list --json | jq -r '.alerts[] | select(.acknowledged == null) | [.id, .title] | @tsv'`,
  ),
  explain: sh(
    `warmwarden explain MAILBOX --json | jq -r '.decisions[] | [.since, .action, .reason, .bounced, .sent] | @tsv'`,
  ),
  history: sh(
    `warmwarden history --guard --since 1d --json | jq -r '.entries[] | [.at, .by, .command, .result] | @csv'`,
  ),
  pause: sh(`warmwarden pause MAILBOX --dry-run --json | jq -r '.messages[]'`),
  connect: sh(
    `warmwarden connect new.csv --yes --json | jq -r '.mailboxes[] | select(.outcome == "failed") | .detail'`,
  ),
  undo: sh(`warmwarden undo --since 1h --dry-run --json | jq -r '.messages[]'`),
  'token new': sh(`warmwarden token new anna --role viewer --json > anna.json && jq -r .sha256 anna.json`),
  'recipes list': sh(`warmwarden recipes list --json | jq -r '.recipes[] | select(.writes) | .id'`),
  'recipes run': sh(`warmwarden recipes run at-risk --json | jq -c '.rows[]'`),
  writes: sh(`warmwarden writes off --account acme --for 2h --reason migration --yes --json | jq -r .result`),
  'silence add': sh(
    `warmwarden silence add --rule "dns_*" --for 4h --reason "DNS moves" --yes --json | jq -r '.messages[]'`,
  ),
  'silence list': sh(`warmwarden silence list --json | jq -r '.silences[] | [.id, .by, .until] | @tsv'`),
  'store check': json(`{"file": "/var/lib/warmwarden/warmwarden.db", "sound": true}`),
  'store backup': json(`{"file": "/backup/warmwarden.db", "bytes": 194560, "took_seconds": 0.056}`),
  reload: sh(`warmwarden reload --dry-run --json | jq -r '.result, .messages[]'`),
};

/** By the name of the shape. */
export const shapeExamples: Readonly<Record<string, JsonExample>> = {
  Recipe: sh(`warmwarden recipes list --json | jq '.recipes[] | select(.id == "at-risk") | .parameters'`),
  account: sh(`warmwarden status --json | jq -r '.accounts[] | [.name, .health, .requests_per_minute] | @tsv'`),
  action: sh(`warmwarden status --json | jq -r '.actions[] | [.planned_at, .email, .kind, .state] | @tsv'`),
  channel: sh(`warmwarden status --json | jq -r '.channels[] | select(.failing_since) | .last_failure'`),
  decision: sh(`warmwarden explain MAILBOX --json | jq -r '.decisions[0].days[] | [.date, .sent, .bounced] | @csv'`),
  mailbox: sh(
    `warmwarden status --json | jq -r '.mailboxes[] | select(.held) | [.email, .held.text, .held.ends] | @tsv'`,
  ),
  problem: sh(`warmwarden check --json | jq -r '.error.problems[]? | "\\(.line): \\(.message)"'`),
  setting: json(`{"path": "poll.stats_interval_min", "value": "15s", "from": "file", "line": 3, "column": 28}`),
  silence: json(`{
  "id": "tp9jvwal",
  "match": {"rule": ["dns_*"]},
  "by": "ann",
  "reason": "DNS moves",
  "from": "2026-11-29T12:26:20.135Z",
  "until": "2026-11-29T16:26:20.135Z"
}`),
  trouble: sh(`warmwarden simulator breach MAILBOX --json | jq -r '.messages[0]'`),
  verdict: sh(`warmwarden status --json | jq -r '.mailboxes[] | select(.verdict.bounces_until_breach == 1) | .email'`),
};
