// Runbooks of the alert rules: what happened, what Warmwarden did, what to do. The page and docs/runbooks.md
// show them.
import { type AlertRule, ruleBook, type Severity } from './alert-rules.ts';

/** Cause of a rule, or another case in which its alert differs. */
interface RunbookCase {
  readonly cause: string;
  /** Default severity; that of the rule if absent. */
  readonly severity?: Severity;
  readonly means: string;
  readonly todo?: string;
}

interface Runbook {
  readonly means: string;
  readonly cases?: readonly RunbookCase[];
  /** Absent if Warmwarden did nothing beyond what `means` says. */
  readonly done?: string;
  /** Absent if each case has its own. */
  readonly todo?: string;
}

const runbooks: Readonly<Record<AlertRule, Runbook>> = {
  not_guarded: {
    means: 'Warmwarden does not guard an account, or not all of it. The message names the cause.',
    cases: [
      {
        cause: 'api down',
        means: 'No request has succeeded for 3 minutes.',
        todo: 'Check `base_url` and the status page of the warm-up service.',
      },
      {
        cause: 'key rejected',
        means: 'The API refused the key twice in a row (401, or 403 with JSON).',
        todo: 'Replace the key, then run `warmwarden reload` (an environment variable: restart).',
      },
      {
        cause: 'key read-only',
        means:
          'The API answered 403 to changes of two mailboxes, or of one that it changed before. Warmwarden does NOT ACT there.',
        todo: 'Give the key write permission. Warmwarden notices it within an hour, or after a `reload`.',
      },
      {
        cause: 'list unread',
        means: 'Since the start, the API has refused the mailbox list.',
        todo: 'After a 429, look for another tool that uses the key; otherwise ask the warm-up service.',
      },
      {
        cause: 'mailbox list',
        means:
          'The list lost over a fifth of its mailboxes, or says that it is incomplete. Warmwarden still guards the lost ones, for an hour, or for a week if it lost all.',
        todo: 'Check in the warm-up service whether the mailboxes are there and whether the key can see them.',
      },
      {
        cause: 'mailbox list',
        severity: 'warning',
        means:
          'No mailbox is guarded: the list never had one, or lacked all for a week, or the configuration selects none.',
        todo: 'Check `mailboxes.include` and `mailboxes.exclude`, or remove the account.',
      },
      {
        cause: 'nothing judged',
        means:
          'The API answers, but no mailbox can be judged: the statistics or the warm-up of all are refused, missing or too old, for 3 minutes after a start, otherwise for half an hour.',
        todo: 'Ask the warm-up service what the plan and the key allow.',
      },
    ],
    done: 'Warmwarden changes nothing without data, and retries at growing intervals. Other accounts are not affected.',
    todo: 'Meanwhile, watch the bounces of the account in the warm-up service, and pause what bounces there. After a change: `warmwarden doctor`.',
  },
  crashed: {
    means:
      'Warmwarden ended, because a part of it failed or hung: the polling of an account for a minute, or a task such as sending messages for 3 minutes. That is a bug.',
    done: 'systemd, Kubernetes or Warmwarden itself started it again, and it continues where it stopped. If some accounts stop again, it guards the others, and tries these every hour. The alert ends after 5 minutes in which it guards every account.',
    todo: 'Report the error. Watch the bounces of unguarded accounts in the warm-up service. The error: `journalctl -u warmwarden | grep -B 5 "Warmwarden ends"`. Unguarded accounts: `curl http://127.0.0.1:7025/readyz`.',
  },
  guard_acted: {
    means: 'A mailbox bounced too much. Warmwarden changed it, and read the change back.',
    cases: [
      {
        cause: 'switch to recovery',
        severity: 'warning',
        means: 'The bounce rate exceeded the limit of the mode.',
        todo: 'The cause can wait until the morning: list, content, DNS. The mode comes back by itself, after at least 7 days and enough clean emails.',
      },
      {
        cause: 'pause',
        severity: 'critical',
        means: 'It was in recovery mode already, it was the third action in 60 days, or it was an emergency.',
        todo: 'Clean the list, then run `warmwarden resume MAILBOX`.',
      },
    ],
    todo: 'Take a paused mailbox out of its campaigns, now. The history: `warmwarden explain MAILBOX`. Undo a switch: `warmwarden mode MAILBOX MODE`.',
  },
  restored: {
    means:
      'A mailbox that Warmwarden switched to recovery mode stayed clean for long enough. Warmwarden restored its earlier mode.',
    todo: 'Nothing.',
  },
  guard_held: {
    means:
      'Many mailboxes need an action at once: a mailbox provider or wrong data is the likely cause. The circuit breaker holds all further actions under this API, emergencies too. Another message follows at 2, 4, 8 and so on held mailboxes, and for each emergency.',
    done: 'Nothing on the held mailboxes. From the time in the message, on fresh data, Warmwarden acts on at most a tenth of the API’s running mailboxes per 15 minutes, the worst first. If it had read most of them only once or twice, it waits for you.',
    todo: 'Compare the counts with those in the warm-up service, then choose one. Real bounces, all that this API holds: `warmwarden breaker apply API`. Wrong data, all that this API holds: `warmwarden breaker discard API`. One mailbox alone: `warmwarden pause MAILBOX`. While the data stays wrong, and nothing may be done: `warmwarden writes off --account ACCOUNT --reason TEXT`.',
  },
  protection_off: {
    means:
      'A person switched guarding or messages off. The message says who, why and until when. All channels get it, daily, past routes and silences, except recipes and channels of other clients.',
    cases: [
      {
        cause: 'writes',
        means: '`warmwarden writes off`: Warmwarden changes no mailbox, not even for a person, also after a restart.',
        todo: 'Run the `writes on` command in the message.',
      },
      {
        cause: 'enforcement',
        means: 'A reload set `enforce` to false: Warmwarden decides, sends `bounce_over_limit`, and changes nothing.',
        todo: 'Remove `enforce: false`.',
      },
      {
        cause: 'account',
        means: 'A reload removed an account: Warmwarden no longer polls it. The alert ends after 3 days.',
        todo: 'Put the account back.',
      },
      {
        cause: 'channels',
        means:
          'A reload removed every channel except recipes: Warmwarden keeps guarding, but it can no longer notify you.',
        todo: 'Put the channels back.',
      },
      {
        cause: 'silence',
        means: 'A silence mutes all messages: Warmwarden keeps guarding.',
        todo: 'Run `warmwarden silence expire ID`.',
      },
    ],
    todo: 'If it was intended, nothing. What is off: `warmwarden alerts list --details`. After a correction: `warmwarden reload`.',
  },
  contested: {
    means:
      'Twice within a day, somebody else reversed what Warmwarden had changed on a mailbox. Warmwarden does not act on it for up to a day.',
    todo: 'Find the person or the tool: `warmwarden explain MAILBOX`. Let Warmwarden act again: `warmwarden contest end MAILBOX`.',
  },
  recovery_without_effect: {
    means: 'A recovery does not do what it should. The mailbox stays in recovery mode.',
    cases: [
      {
        cause: 'daily limit',
        means: 'One day after the switch, the daily limit is still over 15 emails.',
        todo: 'Set the limit: it stays.',
      },
      {
        cause: 'overdue',
        means: 'It has been in recovery mode for over 45 days, and was never clean enough to go back.',
        todo: 'Look for the cause: list, DNS, reputation.',
      },
    ],
    todo: 'Set the limit: `warmwarden limit MAILBOX 15`. Without effect: `warmwarden pause MAILBOX`. Overdue: `warmwarden mode MAILBOX MODE`.',
  },
  guard_action_failed: {
    means: 'Warmwarden could not change a mailbox. The message says why.',
    cases: [
      { cause: 'refused', means: 'The API refused the action.' },
      {
        cause: 'not confirmed',
        means: 'The change does not show after tries 1, 5, 15 and 60 minutes apart. Warmwarden looked before each one.',
      },
      {
        cause: 'overdue',
        means:
          'For 5 minutes it could not be sent: the request before it failed, or had to wait for the rate limit. Warmwarden keeps trying.',
      },
    ],
    todo: 'Make the change yourself in the warm-up service. The tries: `warmwarden history --guard --mailbox MAILBOX`. The alert ends when Warmwarden reads the change, or that no action is needed.',
  },
  guard_blind: {
    means:
      'Warmwarden cannot judge a mailbox, so the mailbox is not guarded. It still acts on an emergency in readable counts that nothing contradicts, unless the status is unknown or says paused.',
    cases: [
      {
        cause: 'mode or status',
        means: 'The mode or the status is unknown.',
        todo: 'Set a known mode, or add the word to `api.status_words`.',
      },
      {
        cause: 'status against counts',
        means: 'The status says that it does not run, although its emails bounce.',
        todo: 'Pause it in the warm-up service, or correct `api.status_words`.',
      },
      {
        cause: 'counts make no sense',
        means: 'Its counts are invalid, or none of its emails count.',
        todo: 'Compare the statistics in the warm-up service with the message.',
      },
      {
        cause: 'counts missing',
        means:
          'At the second answer: it had no emails, far fewer than before, counts that another field contradicts, or 404 for a mailbox that was judged before.',
        todo: 'As above, and ask the warm-up service. Exclude a mailbox whose warm-up ended.',
      },
    ],
    todo: 'The doubtful data: `warmwarden explain MAILBOX`.',
  },
  bounce_over_limit: {
    means:
      'A mailbox is over its bounce limit, and Warmwarden does not act. The alert ends when the rate is within the limit, or when Warmwarden acts.',
    cases: [
      {
        cause: 'no action',
        severity: 'critical',
        means:
          'Enforcement or writes are off, the key is read-only, `on_breach` is alert, or the status is unknown. The message says NO ACTION TAKEN.',
        todo: 'Switch the mailbox to recovery mode, or pause it, in the warm-up service. Or allow it: the `writes on` command in the message, `guard.enforce: true`, a key that can write.',
      },
      {
        cause: 'too few, in recovery mode',
        severity: 'warning',
        means: 'There are fewer bounces than `guard.min_bounces`. Chat and email get no message about the end.',
        todo: 'Check the recipient list. To act on one bounce: `guard: {profile: literal}`.',
      },
      { cause: 'too few, otherwise', severity: 'info', means: 'As above.', todo: 'As above.' },
    ],
    todo: 'The reason of now: `warmwarden alerts list --details`.',
  },
  bounce_near_limit: {
    means:
      'The bounce rate is at 80% of the limit or more (`guard.near_limit`), with at least `guard.min_bounces` bounces. The alert ends below 70%.',
    todo: 'Check the recipient list before the rate reaches the limit. The counts: `warmwarden explain MAILBOX`.',
  },
  bounce_burst: {
    means:
      'In the last 1 to 3 days a mailbox had at least 3 bounces more than its limit allows, although its whole window is not a breach.',
    todo: 'Check what the mailbox has sent since the day in the message. To have Warmwarden act on bursts: `guard: {burst: act}`.',
  },
  shared_bounces: {
    means: 'Many mailboxes bounce together. Each one also has its own limit.',
    cases: [
      {
        cause: 'a domain',
        means:
          'Within 1 to 7 days its mailboxes had 3 bounces more than their limits allow, and 3 of them bounced (2 in a domain of 2). It ends when the last 7 days, and every shorter period, are within the limits.',
      },
      {
        cause: 'whole account',
        means:
          'In 2 days its bounce rate was twice that of the 28 days before, with 12 bounces more than usual, on 5 domains. It ends below 1.5 times.',
      },
    ],
    todo: 'Look for a shared cause: DNS, blacklists, recipient lists, the warm-up service. If the counts are wrong, and no breach is to be acted on: `warmwarden writes off --account ACCOUNT --reason TEXT`.',
  },
  mailbox_unwell: {
    means: 'Two answers in a row show that something is wrong with a mailbox. Its bounces are still judged.',
    cases: [
      {
        cause: 'connection',
        means: 'The warm-up service lost its connection, so the mailbox neither sends nor receives.',
        todo: 'Connect it again in the warm-up service.',
      },
      {
        cause: 'status',
        severity: 'warning',
        means: 'Its status is unknown to Warmwarden, such as "suspended".',
        todo: 'If it is normal, add the word to `alerts.rules.mailbox_unwell.known`.',
      },
    ],
    todo: 'All disconnected ones: `warmwarden recipes run disconnected`.',
  },
  mailbox_missing: {
    means:
      'Two lists in a row lack a mailbox that was listed before, or that the configuration includes by name. Warmwarden does not watch it, and keeps its history. The alert ends when the mailbox is back or no longer included, otherwise after a week.',
    todo: 'If somebody removed it, nothing, or remove it from `mailboxes.include`. Otherwise look for it in the warm-up service, and check its spelling. What the key sees: `curl -H "Authorization: Bearer KEY" https://api.example.com/v1/mailboxes`.',
  },
  dns_failing: {
    means:
      'SPF, DKIM or DMARC of a domain failed in two checks. The alert ends when it passes for every mailbox of the domain.',
    cases: [
      {
        cause: 'bad record',
        severity: 'critical',
        means: 'The record fails.',
        todo: 'Compare the records with what your mailbox provider asks for. Consider pausing the mailboxes.',
      },
      {
        cause: 'unknown word',
        severity: 'warning',
        means: 'The API uses words that are in no list of `api.dns_words`.',
        todo: 'Put the word into one of these lists.',
      },
    ],
    todo: 'The records: `warmwarden recipes run dns-problems`.',
  },
  blacklisted: {
    means:
      'The IP address or domain that a mailbox sends from is on a blacklist. Critical if that list is in `alerts.rules.blacklisted.major`. It ends when two checks find it on no list.',
    todo: 'Find out why before you ask the list to remove it: bounces, complaints, a neighbor on a shared IP address. Add lists that do not matter to `ignore`. All listings: `warmwarden recipes run blacklisted`.',
  },
  stale_data: {
    means: 'Data of a mailbox is too old. The alert ends with the first fresh data.',
    cases: [
      {
        cause: 'statistics',
        means:
          'Three polls of `poll.stats` brought none (about 45 minutes), they end too many days ago (`guard.stale_after_days`), or count no email on 2 sending days. Or the warm-up cannot be read. The mailbox is NOT GUARDED.',
        todo: 'Check whether the mailbox still sends.',
      },
      {
        cause: 'dns, blacklist',
        means:
          'The API made that check more than 4 poll intervals ago (a day), although Warmwarden asked for a new one, or 4 polls failed. The mailbox is guarded.',
        todo: 'Run the check in the warm-up service. If it stays old, ask its support, and check DNS and blacklists yourself.',
      },
    ],
    todo: 'The API and the budget: `warmwarden doctor`. All old data: `warmwarden recipes run stale-data`.',
  },
  reputation_low: {
    means: 'The emails of a mailbox are received worse. Warmwarden changes nothing because of this.',
    cases: [
      {
        cause: 'inbox rate',
        means: 'In 7 days, less than 80% of at least 30 delivered emails reached the inbox. It ends at 85%.',
      },
      {
        cause: 'health score',
        means: 'The score of the API is 15 points below its best of 7 days. It ends at 10 points.',
      },
    ],
    todo: 'Check its content, recipients, bounces, DNS and blacklists. If it continues, choose a slower mode: `warmwarden mode MAILBOX MODE`.',
  },
  budget_too_small: {
    means: 'Warmwarden can make too few requests for an account, so its data gets older than configured.',
    cases: [
      {
        cause: 'cadence',
        severity: 'info',
        means: 'The cadence needs more requests than the plan or the API allows.',
        todo: 'Choose a slower cadence or a larger plan.',
      },
      {
        cause: 'cadence',
        severity: 'warning',
        means:
          'The API allows less than half of what is planned. Or a first sweep takes over an hour: mailboxes that are not read yet are not guarded.',
        todo: 'As above. Ask the warm-up service for the limit of the key, and correct `plan` or `requests_per_minute`.',
      },
      {
        cause: 'shared key',
        severity: 'warning',
        means:
          'The API answered 429 three times in an hour, although Warmwarden stayed within its rate limit. It ends after an hour without a 429.',
        todo: 'Give Warmwarden a key of its own, or raise `headroom`.',
      },
    ],
    done: 'Warmwarden reads the riskiest mailboxes first.',
    todo: 'The numbers: `warmwarden doctor`. The progress of a first sweep: `warmwarden status`.',
  },
  changed_by_others: {
    means: 'Somebody or something other than Warmwarden changed a mailbox.',
    cases: [
      {
        cause: 'a mailbox',
        severity: 'info',
        means: 'Its warm-up was paused, or its mode or target daily limit was raised.',
      },
      { cause: 'near its limit', severity: 'warning', means: 'Its mode was raised.' },
      {
        cause: 'a pause by Warmwarden',
        severity: 'warning',
        means: 'Its warm-up was resumed. Warmwarden leaves it running, and counts only bounces after the resume.',
      },
      {
        cause: 'an account',
        severity: 'warning',
        means: 'A fifth of its running warm-ups, and at least 5, stopped within an hour.',
      },
    ],
    done: 'Warmwarden leaves the change, and judges the mailbox by the new mode. Another mode starts the count again, once within `guard.window_days`, and not during a breach.',
    todo: 'Nothing, if you expected it. Otherwise, find the person or the tool: `warmwarden explain MAILBOX`.',
  },
  api_unwell: {
    means: 'The API answers, but reports trouble. Warmwarden judges and acts on what it answers.',
    cases: [
      { cause: 'status', means: 'Its health check reports a status other than "ok".' },
      { cause: 'mailbox list', means: 'The mailbox list cannot be read: Warmwarden does not see new mailboxes.' },
    ],
    todo: 'Check the status page of the warm-up service. If its figures look wrong: `warmwarden writes off --account ACCOUNT --reason TEXT`.',
  },
  clock_off: {
    means:
      'The clocks of this machine and of the API are more than a minute apart. Near midnight UTC, Warmwarden may treat the wrong day as today.',
    todo: 'Synchronize this machine. If it is synchronized, report the clock of the API to the warm-up service. Whether it is: `timedatectl`.',
  },
  config_wrong: {
    means: 'The configuration does not do what it says.',
    cases: [
      {
        cause: 'reload',
        means:
          'Warmwarden refused it: the file has errors, it removes over 20% of the guarded mailboxes or every channel except recipes, or the store cannot be read. The previous configuration stays in force.',
        todo: 'Correct the file. If you intend the removal: `--force`.',
      },
      {
        cause: 'patterns',
        means:
          'A pattern of `mailboxes`, `overrides` or a route matches no mailbox in two lists. A mistyped exclude leaves its mailboxes guarded. An include without a wildcard is `mailbox_missing`.',
        todo: 'The message names the place and the nearest match. Correct or remove the pattern.',
      },
    ],
    todo: 'Every mistake: `warmwarden check`. What would change: `warmwarden reload --dry-run`. When it is right: `warmwarden reload`.',
  },
  operator_acted: {
    means:
      'A person changed something through Warmwarden: on the command line, over HTTP, or with a recipe. The message says who, what, why and the outcome.',
    todo: 'Nothing, if you expected it. Info is sent only where a route takes it. The commands: `warmwarden history`.',
  },
  channel_failing: {
    means:
      'A channel has accepted no message for 15 minutes while there was something to send. Or its receiver refuses the password, key or address. The other channels get this alert. For the heartbeat: its address does not take the pings.',
    done: 'Mailboxes stay guarded. The messages wait in order, and are retried for a day; then `warmwarden channels resend NAME` sends them again.',
    todo: 'Check the address and the receiver. What it answers: `warmwarden channels test NAME`. The heartbeat: `warmwarden channels test heartbeat`.',
  },
  store_failing: {
    means:
      'The store cannot be read or written: the disk is full, another process has locked the file, or the file is damaged, deleted or replaced. The alert ends when nothing has failed for half a minute; a damaged file counts as damaged until a restart.',
    done: 'Warmwarden takes no action that it cannot record, and retries every few seconds. It sends this alert without the store, and other alerts when the store works again. `/readyz` fails.',
    todo: 'Follow the advice in the message. If the `-wal` or `-shm` file was deleted, end Warmwarden with SIGTERM, not with kill -9: then nothing is lost. Damage: `warmwarden store check`. The disk: `df -h /var/lib/warmwarden`.',
  },
};

/** Runbook whose cases all have a severity. */
export function runbookOf(rule: AlertRule) {
  const { cases = [], ...runbook } = runbooks[rule];
  const { severity } = ruleBook[rule];
  return { ...runbook, cases: cases.map((one) => ({ severity, ...one })) };
}
