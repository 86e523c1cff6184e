// The alert rules with their runbooks, in the order in which alerts of one severity are shown. Their conditions stand in
// alerts/rules.
import type { Route } from './answers.ts';
import { hourMs, minuteMs } from './time.ts';

export interface Runbook {
  readonly means: string;
  readonly done: string;
  readonly todo: string;
}

interface RuleEntry extends Runbook {
  readonly name: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** Time that the condition must last; 0 if absent. A cause may have a shorter one, in its condition. */
  readonly forMs?: number;
  /** Marks a state of the API that may change within a minute: its alert can be unstable. */
  readonly comesAndGoes?: true;
  /** Marks what follows from bounces, lasts for days after them, and calls for nothing at once. */
  readonly isSymptom?: true;
  readonly causes?: readonly string[];
  /** Severities that the condition may choose besides the configured one. */
  readonly otherSeverities?: readonly RuleEntry['severity'][];
  /** Marks an event, which happens once and has no wait: the name of its `object` in Alertmanager's annotations. */
  readonly event?: string;
  /** Part of an incident that the alerts show. A sender is a domain or IP address that mailboxes send from. */
  readonly shows?: 'bounces' | 'action' | 'hold' | 'sender' | 'shared';
  /** Marks missing knowledge; all other rules report facts. */
  readonly isBlind?: true;
  /** Marks what says nothing new while an outage of the account lasts. */
  readonly isExplainedByOutage?: true;
  /** Marks what does not wait for the one message of a first sweep. */
  readonly isToldAtOnce?: true;
  /** Routes whose second answer fires or ends its alerts. */
  readonly seenTwiceBy?: readonly Route[];
}

const endsByItself = (isGood: string) =>
  `Warmwarden changed nothing. It reads the data again at the usual times, and the alert ends by itself ${isGood}.`;

const rules = {
  not_guarded: {
    name: 'accounts NOT GUARDED',
    severity: 'critical',
    forMs: 3 * minuteMs,
    comesAndGoes: true,
    causes: ['api down', 'key rejected', 'key read-only', 'mailbox list', 'nothing judged'],
    otherSeverities: ['warning'],
    isBlind: true,
    isToldAtOnce: true,
    means:
      'Warmwarden does not guard an account, or not all of it. Each cause has an alert of its own, and the message names it. `api down`: for three minutes no request has succeeded. `key rejected`: the API refused the key twice in a row (401, or 403 with JSON). `key read-only`: it answered 403 to changes of two mailboxes and has accepted none since, or to a change of a mailbox of which it accepted one before; if it refused one mailbox only, `guard_action_failed` fires instead. `mailbox list`: the list lost over a fifth of its mailboxes, or says that it is incomplete; it is a warning when no mailbox is guarded, because two lists in a row were empty or the configuration selects none. `nothing judged`: the API answers, but gives the statistics or the warm-up of no mailbox, for three minutes if it refuses them from the start, otherwise for half an hour, or until `stale_data` fires for every mailbox; or for half an hour `guard_blind` has been true of every mailbox that may run.',
    done: 'Warmwarden decides nothing and changes nothing on data that it does not have, and retries at growing intervals. While the API is down or the key is rejected, it sends no separate alerts about old data and missing mailboxes of the account. With a read-only key it does NOT ACT on the mailboxes that were refused; it tries each breach once, and again every hour and after a `reload`. While the list is short it watches the known mailboxes, and treats none as removed for an hour. Other accounts are not affected.',
    todo: 'Look at the cause. `api down`, `nothing judged`: check base_url, the status page of the provider, and what the plan and the key allow. `key rejected`, `key read-only`: put a key with read and write permission into the configuration, then run `warmwarden reload`. `mailbox list`: check in the mailbox app whether the mailboxes are there and whether the key can see them, check mailboxes.include and mailboxes.exclude, and remove an account that is to have no mailbox. Until then, watch the bounces of the account in the mailbox app, and pause breaching mailboxes there.',
  },
  crashed: {
    name: 'Warmwarden ended by itself',
    severity: 'critical',
    means:
      'Warmwarden ended, because a part of it had failed or hung: the polling of an account for a minute, or a task such as sending messages for three minutes. That is an error in Warmwarden, and no failure of the API, of a receiver or of the store.',
    done: 'It was started again, by systemd, Kubernetes or itself, and continues where it stopped. If some accounts stop again, it guards the others, and tries these again with a restart each hour. The alert ends when it has guarded every account for five minutes.',
    todo: 'The log has the error before "Warmwarden ends": please report it. If the alert stays, Warmwarden keeps ending, or leaves the accounts that `/readyz` names unguarded: watch their bounces in the mailbox app until it guards them.',
  },
  guard_acted: {
    name: 'Warmwarden acted',
    severity: 'warning',
    otherSeverities: ['critical'],
    event: 'action_id',
    shows: 'action',
    means:
      'The bounce rate of a mailbox exceeded the bounce limit of its warm-up mode, or so many of its newest emails bounced that it is an emergency in any mode.',
    done: 'Warmwarden switched it to recovery mode, or paused its warm-up, and read the change back. The message says which, with the counts. `warmwarden explain MAILBOX` has the whole history. The alert is critical after a pause, and when all recent bounces were hard or blocks.',
    todo: 'After a switch to recovery, look for the cause (list, content, DNS). Warmwarden restores the earlier mode when the mailbox is clean. After a pause, clean the list, then run `warmwarden resume MAILBOX`. Warmwarden never touches campaign sending: stop that yourself if it should stop too.',
  },
  restored: {
    name: 'restored from recovery',
    severity: 'info',
    event: 'action_id',
    means: 'A mailbox that Warmwarden switched to recovery mode has been clean for long enough.',
    done: 'Warmwarden restored its earlier mode.',
    todo: 'Nothing.',
  },
  guard_held: {
    name: 'the circuit breaker holds actions',
    severity: 'critical',
    shows: 'hold',
    isToldAtOnce: true,
    means:
      'So many mailboxes breached at once that the cause is probably a fault of the provider or bad data. Mailboxes in an emergency are held too. The message counts them and names them first, each with its counts.',
    done: 'The circuit breaker holds all further actions under this API. After an hour, if fresh data still shows the breach, Warmwarden acts on the worst mailboxes first, on a tenth of the fleet every 15 minutes. The message says from what time. If it sees most of them for the first time, it waits for you.',
    todo: 'Look at the held mailboxes on the page. If the bounces are real, carry out the held actions: `warmwarden breaker apply`. If the data is wrong, drop them before the time in the message: `warmwarden breaker discard`. Only bounces from then on count on these mailboxes. To pause only one mailbox now: `warmwarden pause MAILBOX`. While the API keeps giving wrong data, stop all changes: `warmwarden writes off --account ACCOUNT --reason TEXT`.',
  },
  protection_off: {
    name: 'protection switched off',
    severity: 'warning',
    means:
      'A person switched protection off: the emergency stop (`warmwarden writes off`, for all accounts, one account or one mailbox), a reload that set guard.enforce to false (for all accounts, or in an override), removed an account, or removed every channel except recipes, or a silence that mutes all messages. Each has an alert of its own, which says who, why and until when. It ends when writes or enforcement are on again, the account or a channel is back in the configuration, or the time of the stop or the silence is over. For a removed account, it also ends after three days.',
    done: 'Where writes or enforcement are off, Warmwarden does not change mailboxes: behind a stop not even for a person. It keeps polling, and notifies you of breaches there as `bounce_over_limit`. The stop survives restarts. It does not poll a removed account. Without a channel it keeps guarding, and this alert is the last message. During a silence it keeps guarding.',
    todo: 'When the reason is gone, or if this was not intended: run the `warmwarden writes on` command in the message, which ends exactly this stop; write `guard.enforce: true`, or put the account or the channels back, and run `warmwarden reload`; end a silence with `warmwarden silence expire ID`. Every channel except recipes gets this alert, whatever the routes; no silence mutes it, and it is repeated daily.',
  },
  contested: {
    name: 'changes reversed',
    severity: 'warning',
    means: 'Twice within a day, somebody else reversed what Warmwarden had changed on a mailbox.',
    done: 'Warmwarden does not act on the mailbox for up to a day.',
    todo: 'Find the person or the tool that changes it. Then let Warmwarden act again: `warmwarden contest end MAILBOX`.',
  },
  recovery_without_effect: {
    name: 'recovery without effect',
    severity: 'warning',
    causes: ['daily limit', 'overdue'],
    means:
      'A recovery does not do what it should. `daily limit`: one day after the switch to recovery mode, the daily limit is still over 15 emails. `overdue`: a mailbox that Warmwarden switched to recovery mode has been there for over 45 days, because it was never clean enough to go back.',
    done: 'Nothing more. The mailbox stays in recovery mode; while its daily limit is too high, that does not slow it down.',
    todo: 'Lower the target daily limit: `warmwarden limit MAILBOX 15`. Warmwarden reads it back and leaves it as you set it, also when it restores the earlier mode. If that has no effect either, pause the warm-up: `warmwarden pause MAILBOX`. After 45 days, look for the cause: its recipient list, its DNS, its reputation. Or set the mode yourself: `warmwarden mode MAILBOX MODE`.',
  },
  guard_action_failed: {
    name: 'an action failed',
    severity: 'critical',
    isToldAtOnce: true,
    means:
      'The API refused an action. Or Warmwarden could not read it back after all tries (1, 5, 15 and 60 minutes apart). Or Warmwarden could not send it for 5 minutes, because the request before it, which reads the warm-up status, failed or had to wait for the rate limit.',
    done: 'Warmwarden looked for the change before each try, so it never repeated the action blindly. The alert ends when Warmwarden reads the change, or reads that the mailbox needs no action. A command that the API refuses, or that cannot be read back, does not end it.',
    todo: 'Look at the mailbox in the mailbox app and make the change yourself.',
  },
  guard_blind: {
    name: 'bounces cannot be judged',
    severity: 'warning',
    forMs: hourMs,
    comesAndGoes: true,
    causes: ['counts'],
    isBlind: true,
    means:
      'The guard cannot judge a mailbox. For an hour, its mode or status has been unknown, its counts have made no sense, its status has said that it does not run although its emails bounce, or it has sent and none of its emails count. Or two answers in a row had no emails where it expects some, far fewer than earlier answers had, or counts that another field of the answer contradicts, or were 404 for the warm-up and the statistics of a mailbox that was judged before. When counts are missing or contradicted for half of the running mailboxes of an account, one alert for the account replaces the messages about each. Where the API gives the statistics or the warm-up of no mailbox, `not_guarded` fires instead; where no mailbox of an account can be judged, it fires, too.',
    done: 'Nothing: the mailbox is not guarded in the meantime. Warmwarden still acts on an emergency if it can read the counts and nothing contradicts them, unless the status is unknown or says that the warm-up is paused.',
    todo: 'The message says what is wrong, in the words of the API where it refuses. Set a known mode, or add the status word to api.status_words, or pause the warm-up, or compare the statistics in the mailbox app with the message and ask the provider about them.',
  },
  bounce_over_limit: {
    name: 'bounces over the limit',
    severity: 'critical',
    otherSeverities: ['critical', 'warning', 'info'],
    shows: 'bounces',
    means:
      'A mailbox is over its bounce limit, and Warmwarden does not act. The alert is critical if Warmwarden may not act, because guard.enforce is false, writes are off, the key is read-only, or on_breach is alert. It is info, or a warning in recovery mode, if there are fewer bounces than guard.min_bounces. The alert ends when the rate is at the limit or below, or when Warmwarden acts. Until then, the page and `alerts list --details` show the current reason, for example that the circuit breaker now holds the mailbox. When the bounces were too few, chat and email get no message about the end.',
    done: 'Nothing. The message says NO ACTION TAKEN when Warmwarden may not act, and how many more bounces would be a breach when there are too few.',
    todo: 'If Warmwarden may not act: switch the mailbox to recovery mode or pause it in the mailbox app, or allow Warmwarden to act: `warmwarden writes on`, guard.enforce: true, or a key that may write. If the bounces are too few: check the list that the mailbox writes to. To act on one bounce, set `guard: {profile: literal}`.',
  },
  bounce_near_limit: {
    name: 'bounces near the limit',
    severity: 'info',
    isSymptom: true,
    means:
      'The bounce rate is at 80 % of the bounce limit or more (guard.near_limit), with at least min_bounces bounces. The alert ends below 70 %.',
    done: 'Nothing yet.',
    todo: 'Check the recipient list of the mailbox before the bounce rate reaches the bounce limit.',
  },
  bounce_burst: {
    name: 'bursts of bounces',
    severity: 'warning',
    otherSeverities: ['critical'],
    shows: 'bounces',
    means:
      'In the last 1 to 3 days a mailbox had at least 3 bounces more than its bounce limit allows, although its whole window is not a breach. The alert ends when none of these days shows the burst any more.',
    done: 'Nothing, unless guard.burst is act: then Warmwarden acts as on a breach.',
    todo: 'Check what the mailbox has sent since the day in the message. To have Warmwarden act on bursts, set `guard: {burst: act}`.',
  },
  shared_bounces: {
    name: 'bounces of many mailboxes',
    severity: 'warning',
    isSymptom: true,
    causes: ['whole account'],
    shows: 'shared',
    means:
      'Many mailboxes together bounce more than they should. Of a domain: in the last 1 to 7 days its mailboxes had at least 3 bounces more than their bounce limits allow, and at least 3 of them bounced (2 in a domain of 2). Each day counts with the bounce limit of the mode on that day, and paused mailboxes count too. The alert ends when the last 7 days, and every shorter period that ends today, are within the bounce limits. Of a whole account: in the last 2 days its bounce rate was at least twice that of the 28 days before, with at least 12 bounces more than usual, on at least 5 domains. This needs 14 days of statistics, and up-to-date data of nine in ten mailboxes; a small account has too few bounces. It ends when the rate is less than 1.5 times that of the 28 days before, or nothing bounced.',
    done: 'Nothing. Warmwarden judges each mailbox on its own, acts on those that are in breach, and the circuit breaker holds actions when too many breach at once.',
    todo: 'Look for a cause that the mailboxes share: the DNS of the domain, its blacklists, the recipient lists, the status page of the provider. Compare the counts with those in the mailbox app. If they are wrong, switch writes off until they are right: `warmwarden writes off --reason TEXT`.',
  },
  sending_over_limit: {
    name: 'more emails than allowed',
    severity: 'warning',
    means:
      'On one day a mailbox sent more emails than its daily limit, or than the maximum of its mode (slow 20, balanced 40, aggressive 80, recovery 15). A lowered daily limit counts from the second day after the change. The alert ends when neither yesterday nor today is over.',
    done: 'Nothing. Warmwarden judges the bounces of the mailbox as usual.',
    todo: 'Find out what sends from the mailbox: another tool, or a daily limit that somebody raised in the mailbox app. To lower it: `warmwarden limit MAILBOX EMAILS`. If the API does not keep to its own daily limit, pause the warm-up: `warmwarden pause MAILBOX`.',
  },
  mailbox_unwell: {
    name: 'mailbox unwell',
    severity: 'critical',
    comesAndGoes: true,
    causes: ['connection', 'status'],
    otherSeverities: ['warning'],
    seenTwiceBy: ['mailbox'],
    means:
      'Two answers in a row show that something is wrong with a mailbox itself. `connection`: the mailbox app has lost its connection to it, so it neither sends nor receives. `status`, a warning: its status is one that Warmwarden does not know, such as "suspended" or "locked"; one that sounds like a lost connection counts as that. The alert ends when the mailbox is connected again, or has a known status.',
    done: 'Nothing: Warmwarden guards the mailbox as usual, and goes by the status of the warm-up.',
    todo: 'Look at the mailbox in the mailbox app, and connect it again. The message has the error. If the status is normal, add the word to alerts.rules.mailbox_unwell.known.',
  },
  mailbox_missing: {
    name: 'mailbox missing',
    severity: 'warning',
    comesAndGoes: true,
    isBlind: true,
    isExplainedByOutage: true,
    isToldAtOnce: true,
    means:
      'The mailbox was missing from two lists of the account in a row, so Warmwarden does not watch it. Either it was in the list before, or the configuration includes it by its address or id. The alert ends when the mailbox is in the list, when the configuration no longer includes it by name, or, for any other mailbox, after a week.',
    done: 'Warmwarden keeps the history and the claim of a mailbox that it watched before.',
    todo: 'If somebody removed it, do nothing, or remove it from the include list. Otherwise look for it in the mailbox app. If it never was in the list, check the spelling in the include list, and whether the key can see the mailbox.',
  },
  dns_failing: {
    name: 'DNS failing',
    severity: 'critical',
    comesAndGoes: true,
    otherSeverities: ['warning'],
    shows: 'sender',
    seenTwiceBy: ['dns'],
    means:
      'SPF, DKIM or DMARC of a sending domain failed in two checks. Inconclusive checks do not count. It is a warning if the API uses only words that are in no list of api.dns_words.',
    done: endsByItself('when the record passes for every mailbox of the domain for which it failed'),
    todo: "Compare the domain's DNS records with what the mail provider asks for. Consider pausing the domain's mailboxes until the records are repaired. If the message says that a word is unknown, put it into one of the lists of api.dns_words.",
  },
  blacklisted: {
    name: 'blacklisted',
    severity: 'warning',
    comesAndGoes: true,
    shows: 'sender',
    seenTwiceBy: ['blacklist'],
    means:
      'The IP address (or domain) that a mailbox sends from is on a blacklist. The alert is critical if the list is one of those in `major`.',
    done: endsByItself('when two checks find the address on no list'),
    todo: 'Find out why before you ask the list to remove it: bounces, complaints, a neighbor on a shared IP address. Add lists that do not matter to you to `ignore`.',
  },
  stale_data: {
    name: 'data out of date',
    severity: 'warning',
    comesAndGoes: true,
    causes: ['statistics', 'dns', 'blacklist'],
    isBlind: true,
    isExplainedByOutage: true,
    seenTwiceBy: ['dns', 'blacklist'],
    means:
      'Data of a mailbox is too old. `statistics`: they are older than three poll intervals, end too many days ago (guard.stale_after_days), or have counted no email through two whole days on which the mailbox sends; then the alert ends with the next email, or when the warm-up no longer runs. A day of the week without emails in the last four weeks is not such a day. It also fires when Warmwarden has not judged the mailbox for three poll intervals because it could not read the warm-up. `dns`, `blacklist`: the API made that check more than four poll intervals ago (with the defaults: a day), and gave no newer one although Warmwarden asked for it (`refresh=true`). Or four polls in a row brought no readable answer. The alert ends with the first fresh check.',
    done: 'Without fresh statistics and the warm-up, Warmwarden decides nothing: the mailbox is not guarded. An old check it still reports once, asks for a new one at most once an hour, and guards the mailbox as usual.',
    todo: 'Check whether the API is up, whether the mailbox still sends, and whether the request budget is large enough: `warmwarden doctor`. If the warm-up cannot be read, the log has the last failure. Run an old check in the mailbox app; if it stays out of date, ask the provider why, and check the DNS of the domain and the blacklists yourself.',
  },
  reputation_low: {
    name: 'reputation low',
    severity: 'warning',
    comesAndGoes: true,
    isSymptom: true,
    causes: ['inbox rate', 'health score'],
    means:
      "The emails of a mailbox are received worse. `inbox rate`: in the last seven days, less than 80 % of the delivered emails reached the inbox (at least 30 emails); it ends at 85 %. `health score`: the API's health score is 15 points or more below its best value in the last seven days; it ends at 10 points.",
    done: 'Nothing. Warmwarden reads the data again at the usual times, and the alert ends by itself.',
    todo: 'Check the content, recipients, bounces, DNS and blacklists of the mailbox: one of them usually explains it. If it continues, choose a slower warm-up mode: `warmwarden mode MAILBOX MODE`.',
  },
  budget_too_small: {
    name: 'too few requests',
    severity: 'info',
    // Moving in a fleet, or catching up after a 429, takes as long.
    forMs: 4 * minuteMs,
    causes: ['cadence', 'shared key'],
    otherSeverities: ['warning'],
    means:
      'Warmwarden can make too few requests for an account, so its data gets older than configured. `cadence`: for four minutes the configured cadence has needed more requests than the plan or the API allows. It is a warning when the API allows less than half of what is planned, for the key (X-RateLimit-Limit, or long 429s) or for one kind of data, and while a first sweep of over an hour is in progress: mailboxes that it has not read yet are not guarded. `shared key`, a warning: the API answered 429 (too many requests) three times within an hour, although Warmwarden stayed within its rate limit. It ends after an hour without a 429.',
    done: 'Warmwarden reads the riskiest mailboxes first. After a 429 it makes fewer requests for a while.',
    todo: 'Run `warmwarden doctor` for the numbers, then choose a slower cadence or a larger plan, or correct plan, requests_per_minute or headroom. Give Warmwarden a key of its own. Where the API names a smaller limit than the configuration, ask its provider. `warmwarden status` shows the progress of a first sweep.',
  },
  changed_by_others: {
    name: 'changed by others',
    severity: 'info',
    otherSeverities: ['warning'],
    event: 'changed_at_ms',
    means:
      'Between two polls, somebody or something other than Warmwarden paused the warm-up of a mailbox, raised its mode or raised its target daily limit. The alert is a warning if the mode of a mailbox near its limit was raised. One warning says that a fifth of the running warm-ups of an account, and at least 5, stopped within an hour; those that also stopped in the 8 days before do not count.',
    done: 'Warmwarden leaves the change as it is, and judges the mailbox by the new mode. Another mode starts the evidence over, but only once within the window (guard.window_days), and not while the bounces are a breach.',
    todo: 'Nothing, if you expected it. Otherwise find the person or the tool: `warmwarden explain MAILBOX` has the changes with their times. Without a route, alerts of severity info go to no channel.',
  },
  api_unwell: {
    name: 'API unwell',
    severity: 'warning',
    // A deployment of the API may take as long.
    forMs: 5 * minuteMs,
    comesAndGoes: true,
    causes: ['status', 'mailbox list'],
    means:
      'For five minutes the health check of the mailbox API has reported a status other than "ok", or the mailbox list could not be read although the API answered other requests.',
    done: 'Warmwarden continues: it judges and acts on what the API answers. Without the list it does not see new mailboxes.',
    todo: "Check the provider's status page. If the figures of the API look wrong, run `warmwarden writes off --reason TEXT` until they are right.",
  },
  clock_off: {
    name: 'clocks differ',
    severity: 'warning',
    forMs: 5 * minuteMs,
    means:
      'For five minutes, the clock of this machine and the clock of the mailbox API have been more than a minute apart.',
    done: 'Warmwarden continues as usual. Near midnight UTC, it may treat the wrong day as today.',
    todo: 'Synchronize the clock of this machine: `timedatectl` shows whether it is synchronized. If it is, the clock of the API is wrong: report that to the provider.',
  },
  config_wrong: {
    name: 'configuration wrong',
    severity: 'warning',
    causes: ['reload', 'patterns'],
    means:
      'The configuration does not do what it says. `reload`: Warmwarden refused it, because the file has errors, it would remove more than 20 % of the guarded mailboxes or every channel except recipes, or the store could not be read. `patterns`: one of mailboxes.include, mailboxes.exclude, overrides, or match.mailbox of a route matched no mailbox in two whole lists in a row; often its address or domain is mistyped. An include without a wildcard has the alert `mailbox_missing` instead.',
    done: 'After a refused reload, the previous configuration stays in force. A pattern that matches nothing is as if it were not there: Warmwarden guards what a mistyped exclude means, and a mistyped override changes nothing.',
    todo: 'Run `warmwarden check`, correct the file, then run `warmwarden reload` (with --force if you intend to remove these mailboxes or channels). For a pattern, the message names the place in the file and the nearest one that would match. The alert ends when a configuration is in force, and every pattern matches a mailbox or is gone.',
  },
  operator_acted: {
    name: 'operator commands',
    severity: 'info',
    event: 'command_id',
    means:
      'A person changed something through Warmwarden: on the command line, over HTTP, or by applying a recipe. The message says who, what, why and the outcome.',
    done: 'The command and its outcome are in the audit log.',
    todo: 'Nothing, if you expected it. `warmwarden history` shows the commands of the last days. To be notified of every command, route this rule to a channel: without a route, alerts of severity info go to no channel.',
  },
  channel_failing: {
    name: 'channel failing',
    severity: 'critical',
    forMs: 15 * minuteMs,
    means:
      'A channel has accepted no message for 15 minutes while there was something to send, or its receiver refuses the password, key or address in the configuration. The other channels get this alert. It fires for the heartbeat, too, when the address does not take the pings.',
    done: 'Its messages wait in the outbox, in order. Warmwarden retries them at growing intervals for a day.',
    todo: 'Check the address and the receiver. See what it answers: `warmwarden channels test NAME`, or `heartbeat` in place of the name.',
  },
  store_failing: {
    name: 'store failing',
    severity: 'critical',
    means:
      'A read or a write of the store failed: the disk is full, another process has locked the file, or the file is damaged, deleted or replaced. The alert ends when nothing has failed for half a minute (longer after a relapse); a damaged file counts as damaged until you restart Warmwarden. After a restart, the new process sends the resolved message once nothing has failed for a minute.',
    done: 'Warmwarden took no action that it could not record, and retries every few seconds. It sends this alert without the store, to each channel until the channel accepts it. `/readyz` fails. It sends other alerts when the store works again.',
    todo: 'Follow the advice in the message, which depends on the cause. The log has it too. If the `-wal` or `-shm` file beside the store was deleted, Warmwarden needs a restart: end it with SIGTERM, not with kill -9, and nothing is lost.',
  },
} as const satisfies Record<string, RuleEntry>;

export type AlertRule = keyof typeof rules;

export const ruleBook: Readonly<Record<AlertRule, RuleEntry>> = rules;

export const alertRules = Object.keys(rules) as readonly AlertRule[];

/** Runbook of a rule for a reader to whom `command` starts this program. */
export function runbookOf(rule: AlertRule, command: string): Runbook {
  const { means, done, todo } = ruleBook[rule];
  const asStarted = (text: string) => text.replaceAll('`warmwarden ', () => `\`${command} `);
  return { means: asStarted(means), done: asStarted(done), todo: asStarted(todo) };
}
