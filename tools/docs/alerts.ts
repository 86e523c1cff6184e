// docs/alerts.md: how people are told, and a runbook for each rule.
import { alertRules } from '../../src/model/alert.ts';
import { defaultRuleSettings } from '../../src/model/rule-settings.ts';
import { runbooks } from '../../src/wording/runbooks.ts';

const intro = `# Alerts

Each message says what is wrong, since when, the numbers with their counts and limit, how old they are, what was done, and
how to take it back. It links to the mailbox's page and to the rule's runbook below (\`/runbooks#RULE\` on your daemon).

## How you are told

- **Once, and again when it matters.** An alert is pending, firing, resolved. Firing and resolved are told once each; *still*
  is a reminder after \`repeat_interval\` (critical 4 h, warning 24 h, info never), *worse* a higher severity than you were
  told. What the guard did (\`guard_acted\`, \`restored\`) is an event: told once, never resolved.
- **Together.** Alerts of one rule and account that come within \`group_wait\` (30 s) are one message; the next one about them
  waits for \`group_interval\` (5 min). More than four groups at once are one message with the count of each rule.
- **What we found.** While the mailboxes of an account are judged for the first time, what is found about them, switches to
  recovery included, waits for ONE message: "what we found". It is sent when the warm-up and the statistics of all of them were
  read. Where reading their connections, DNS and blacklists takes over five minutes more, what these show is a second message.
  Nothing waits for more than an hour, and a restart, or the account leaving the configuration, sends what was found so far.
- **At once, also during a first sweep.** What the circuit breaker holds, pauses and emergencies, actions that failed, the
  emergency stop, and all news of a mailbox that was judged before, such as its switch to recovery. The page, the log (once a
  minute) and \`warmwarden status\` say how far a first sweep is and when it will be done.
- **To whom.** \`routes\` choose by severity, account, rule and mailbox. The end of an alert goes to every channel that was told
  of it, whatever the routes say by then.
- **An API's circuit breaker** spans the accounts under one \`base_url\`, so \`guard_held\` belongs to the API and to no account.
  A route by account receives it when a mailbox of one of its accounts is held; the message lists the held mailboxes of all
  accounts. A silence by account mutes it only while every held mailbox is on the silenced accounts. A channel that is chosen
  for an account whose mailboxes are held later hears of it with the next reminder. On the page it links to the held mailboxes;
  in JSON, webhooks and the recipe view \`alerts\` the field \`accounts\` names the accounts. Removing an account from the
  configuration, or moving it to another API, ends what is held of it.
- **Not twice for one cause.** While \`api_down\` or \`key_rejected\` fires, and for half an hour after, \`stale_data\` and
  \`mailbox_missing\` of the same account are not told. Nothing else is ever hidden by another alert.
- **After a restart** you hear once of what began and once of what ended meanwhile, and nothing that you heard before.

## Silences

\`warmwarden silence add --rule "dns_*" --domain acme.example --for 2h --reason "provider moves"\` mutes messages; \`silence list\`
shows who muted what, \`silence end ID\` ends it. A silence never stops the guard, never hides anything on the page, and never
mutes the end of what you were told. What still goes on when it is over is told then. What happens once while it lasts (the
guard acted) is not told later: name the rules if you want to hear of that.

## Settings

\`alerts.rules\` in the configuration switches a rule off (\`enabled: false\`: what fires of it ends), gives it another
\`severity\`, makes it wait (\`for\`), or changes its thresholds. [configuration.md](configuration.md) has every key.

## Runbooks
`;

/** The whole file. */
export function alertsText(): string {
  const sections = alertRules.map((rule) => {
    const { means, done, todo } = runbooks[rule];
    const { severity, forMs } = defaultRuleSettings.of[rule];
    const level = rule === 'guard_acted' ? 'critical for a pause, warning for a switch to recovery' : severity;
    const wait = forMs === 0 ? '' : `, after ${forMs / 60_000} minutes`;
    return `### ${rule}\n\n*${level}${wait}*\n\n${means}\n\n**What was done.** ${done}\n\n**What to do.** ${todo}\n`;
  });
  return `${intro}\n${sections.join('\n')}`;
}
