// Examples for the help of every command: the most common lines, with their purpose.
import type { Command } from 'commander';
import { commandName } from '../world/command-name.ts';

/** Examples by the words of the command. The help shows them with the words that start this program. */
export const examples: Readonly<Record<string, readonly string[]>> = {
  run: ['warmwarden run --config config.yaml', 'kill -HUP PID                          # reloads the configuration'],
  check: [
    'warmwarden check --config config.yaml',
    'warmwarden check --show                # the settings in force, and where each value came from',
    'warmwarden check --mailbox a@b.example # the guard settings of one mailbox, overrides resolved',
  ],
  doctor: [
    'warmwarden doctor',
    'warmwarden doctor --json | jq \'.checks[] | select(.result == "problem") | .message\'',
  ],
  channels: ['warmwarden channels test ops', 'warmwarden channels resend ops --reason "the receiver is back"'],
  demo: ['warmwarden demo', 'warmwarden demo --speed 60 --port 8080'],
  simulator: [
    'warmwarden simulator',
    'warmwarden simulator --port 7031 --scenario provider-block',
    'warmwarden simulator breach amelia.ward@northbeam.example   # in a running simulator',
    'warmwarden simulator emergency a@b.example',
    'warmwarden simulator dns-failure b.example',
    'warmwarden simulator disconnect a@b.example',
    'warmwarden simulator repair b.example',
    'warmwarden simulator pause a@b.example                      # by others, as raise-mode and raise-limit',
    'warmwarden simulator raise-mode a@b.example',
    'warmwarden simulator raise-limit a@b.example',
    'warmwarden simulator unwell',
    'warmwarden simulator clock-off',
    'warmwarden simulator well',
    'warmwarden simulator --key sk_live_a,*@a.example --key sk_live_b,enterprise,*@b.example',
  ],
  decide: ['warmwarden decide --mode slow --stats answer.json', 'cat answer.json | warmwarden decide --mode balanced'],
  backtest: [
    'warmwarden backtest --config config.yaml',
    'warmwarden backtest --config config.yaml --days 30 --guard stricter.yaml',
  ],
  status: ['warmwarden status', 'warmwarden status --json | jq \'.mailboxes[] | select(.state != "ok") | .email\''],
  explain: ['warmwarden explain a@b.example', 'warmwarden explain acme/a@b.example --at 2026-03-20T10:02Z'],
  history: [
    'warmwarden history --since 24h',
    'warmwarden history --by ann --operation pause',
    'warmwarden history --mailbox a@b.example --guard    # also what Warmwarden did by itself',
  ],
  pause: [
    'warmwarden pause a@b.example --reason "list is being cleaned"',
    'warmwarden pause a@b.example --dry-run  # only show what it would do',
  ],
  resume: ['warmwarden resume a@b.example --reason "list is clean" --yes'],
  mode: ['warmwarden mode a@b.example slow --reason "new domain"'],
  limit: ['warmwarden limit a@b.example 15 --reason "too many emails for a new domain"'],
  undo: ['warmwarden undo --since 1h --reason "the provider reported bounces twice"'],
  alerts: [
    'warmwarden alerts list',
    'warmwarden alerts list --details',
    'warmwarden alerts list --severity critical --json',
  ],
  token: [
    'warmwarden token new grafana --role scraper',
    'warmwarden token new bot --recipe-key --plan cloud --role viewer',
  ],
  breaker: ['warmwarden breaker release --reason "the bounces are real"'],
  contest: ['warmwarden contest release a@b.example --reason "agreed with the client"'],
  writes: [
    'warmwarden writes off --reason "migration" --for 24h',
    'warmwarden writes off --account acme --reason "key is shared today"',
    'warmwarden writes on --account acme   # ends exactly that stop',
  ],
  silence: [
    'warmwarden silence add --rule dns_failing --for 4h --reason "DNS moves"',
    'warmwarden silence list',
    'warmwarden silence expire ID',
  ],
  store: [
    'warmwarden store stats',
    'warmwarden store check',
    'warmwarden store backup /backup/warmwarden-$(date +%F).db   # also while the daemon runs',
    'warmwarden store copy --from sqlite:./data/warmwarden.db   # into the PostgreSQL database of the configuration',
  ],
  reload: ['warmwarden reload --dry-run             # what would change', 'warmwarden reload'],
  mcp: ['warmwarden mcp', 'warmwarden mcp --base-url https://recipes.example.com/v1'],
  recipes: ['warmwarden recipes list', 'warmwarden recipes run at-risk --param bounces=3'],
};

/** Adds the examples to the help of the command and of each command below it. */
export function withExamples(command: Command): Command {
  const lines = examples[command.name()] ?? [];
  for (const inner of command.commands) {
    const words = new RegExp(`^warmwarden ${command.name()} ${inner.name()}\\b`);
    addExamples(
      inner,
      lines.filter((line) => words.test(line)),
    );
  }
  return addExamples(command, lines);
}

function addExamples(command: Command, lines: readonly string[]): Command {
  const shown = lines.map((line) => line.replace(/(?<=^|\| )warmwarden(?= )/, () => commandName));
  return shown.length === 0 ? command : command.addHelpText('after', `\nExamples:\n  ${shown.join('\n  ')}`);
}
