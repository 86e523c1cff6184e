// What each alert means, what Warmwarden did about it, and what a person should do: the page and docs/alerts.md show it.
import type { AlertRule } from '../model/alert.ts';

export interface Runbook {
  readonly means: string;
  readonly done: string;
  readonly todo: string;
}

const readsOn = 'Nothing was changed. It is read again at its usual times, and the alert ends by itself.';

export const runbooks: Readonly<Record<AlertRule, Runbook>> = {
  api_down: {
    means: 'No request of the account has succeeded for three minutes: no answer, or none that can be read.',
    done: 'Nothing is decided or changed on old data. Requests are tried again with growing pauses. Stale statistics and missing mailboxes of the account are not told besides.',
    todo: "Read the last failure in the message. Check base_url, and whether the provider says that its API is down. If it stays down, watch the account's bounces in the mailbox app: nobody guards them.",
  },
  account_unguarded: {
    means:
      'Warmwarden itself has not polled a configured account for a minute: a part of it broke or hangs. An API that does not answer, refuses the key or asks to wait has alerts of its own.',
    done: 'The polling of the account is started again by itself, within a minute and as often as needed. `/readyz` fails and `warmwarden_account_guarded` is 0 until it runs. Other accounts go on.',
    todo: 'If the alert is still firing after five minutes, restart Warmwarden: nothing is lost, it goes on where it stopped. Until then look at the bounces of the account in the mailbox app. The log has the cause (level error): please report it.',
  },
  key_rejected: {
    means: 'The API refused the key of the account twice in a row (401, or 403 with JSON).',
    done: 'The account is asked no more than its list and health. Other accounts go on.',
    todo: 'Put a valid key with read and write permission into the configuration, then run `warmwarden reload`.',
  },
  key_read_only: {
    means: 'The API refused a change for want of permission, while reading works.',
    done: 'Breaches of the account are told and NOT ACTED on. Writing is tried again every hour.',
    todo: 'Give the key the write permission, or configure another one and run `warmwarden reload`. Until then pause or switch breaching mailboxes by hand.',
  },
  guard_acted: {
    means: "A mailbox bounced more than its warm-up mode's limit allows, or a burst bounced in any mode.",
    done: 'It was switched to recovery mode, or its warm-up was paused, and that was read back. The message says which, with the counts, and `warmwarden explain` has the whole story.',
    todo: 'After a switch to recovery: look for the cause (list, content, DNS); it goes back by itself when it is clean. After a pause: clean the list, then `warmwarden resume`. Campaign sending is never touched: stop it yourself.',
  },
  restored: {
    means: 'A mailbox in a recovery that Warmwarden began has been clean for long enough.',
    done: 'It was set back to the mode before.',
    todo: 'Nothing.',
  },
  guard_held: {
    means: 'So many mailboxes wanted action at once that it looks like a fault of the provider or of the data.',
    done: 'All further actions under this API are held. After an hour the worst are acted on, a tenth of the fleet each quarter of an hour, if fresh data still says so; mailboxes seen for the first time wait for you.',
    todo: 'Look at the held mailboxes on the page. If the bounces are real: `warmwarden breaker release`. If the data is wrong, do nothing.',
  },
  writes_off: {
    means:
      'The emergency stop is on: a person ran `warmwarden writes off` for all accounts, for one account or for one mailbox. The message says who, why and until when. It ends when writes are on again or the time is over.',
    done: 'Warmwarden changes no mailbox that the stop covers, neither by itself nor for a person. It keeps watching, and breaches there are notified as `bounce_over_limit`. The stop survives restarts.',
    todo: 'When the reason is gone, run the `warmwarden writes on` command in the message: it ends exactly this stop. `warmwarden history` shows who switched writes off.',
  },
  contested: {
    means: 'What the guard changed on a mailbox was taken back twice within a day by somebody else.',
    done: 'The guard holds and does not act on it again for now.',
    todo: 'Find the person or the tool. `warmwarden contest release MAILBOX` lets the guard act again.',
  },
  recovery_without_effect: {
    means: 'A day after the switch to recovery mode the daily limit is still over 15.',
    done: 'Nothing more: recovery stands, but does not slow the mailbox down.',
    todo: 'Lower the target daily limit in the mailbox app, or pause it: `warmwarden pause MAILBOX`.',
  },
  restore_overdue: {
    means: 'A mailbox is in a recovery of ours for over 45 days, because it never became clean enough to go back.',
    done: 'It stays in recovery mode.',
    todo: 'Look for the cause: the list it writes to, its DNS, its reputation. Or set the mode by hand: `warmwarden mode`.',
  },
  guard_action_failed: {
    means: 'An action was refused, or could not be read back after all tries (1, 5, 15 and 60 minutes apart).',
    done: 'It was looked for before each try, so it was never sent twice blindly. A later poll that shows the change ends the alert.',
    todo: 'Look at the mailbox in its app and make the change by hand.',
  },
  guard_blind: {
    means:
      'For an hour the bounces of a mailbox could not be judged: an unknown mode or status, or counts that make no sense.',
    done: 'Nothing: the mailbox is not guarded meanwhile. An emergency would still be acted on where its counts can be read.',
    todo: 'The message names what is wrong. Set a known mode, or add the status word to api.status_words, or ask the provider about the counts.',
  },
  bounce_over_limit: {
    means:
      'A mailbox is over its limit, and Warmwarden may not act or is told not to: enforce is off, writes are off, the key is read-only, or on_breach is alert.',
    done: 'NOT ACTED.',
    todo: 'Switch it to recovery or pause it by hand, or let Warmwarden act: `warmwarden writes on`, guard.enforce, or a key that may write.',
  },
  bounce_near_limit: {
    means:
      'The bounce rate is at 80 % of the limit or more (guard.near_limit), with at least min_bounces bounces. It ends below 70 %.',
    done: 'Nothing yet.',
    todo: 'Look at the list it writes to before the limit is reached.',
  },
  mailbox_disconnected: {
    means: 'The mailbox app shows twice that it lost the connection to the mailbox: it neither sends nor receives.',
    done: readsOn,
    todo: 'Connect it again in the mailbox app; the error is in the message.',
  },
  mailbox_missing: {
    means:
      'A mailbox was in none of two lists of its account, and is not watched any more. It ends when it is back, or after a week.',
    done: 'Its history and what was claimed are kept.',
    todo: 'If somebody removed it, nothing. Otherwise look for it in the mailbox app.',
  },
  mailbox_list_short: {
    means: 'The mailbox list lost over a fifth of the account, or says that it is not whole.',
    done: 'Nobody is taken for gone until it has lasted for an hour. Known mailboxes are watched on.',
    todo: 'Look into the mailbox app whether they are there, and whether the key still sees them.',
  },
  dns_failing: {
    means:
      'SPF, DKIM or DMARC of a sending domain does not pass, seen twice. Inconclusive checks say nothing. It ends when every mailbox of the domain that saw it fail sees it pass.',
    done: readsOn,
    todo: "Compare the domain's DNS records with what the mail provider asks for. Consider a pause of the domain's mailboxes until it is repaired.",
  },
  blacklisted: {
    means:
      'The ip (or domain) that a mailbox sends from is on a blacklist. Critical when the list is one of `major`. It ends when it was found on no list twice.',
    done: readsOn,
    todo: 'Find out why before asking the list to take it off: bounces, complaints, a neighbour on a shared ip. Lists that do not matter to you go into `ignore`.',
  },
  stale_data: {
    means:
      'The statistics of a mailbox are older than three polls, end days ago, or stood still through two whole days on which it sends.',
    done: 'Nothing is decided on old data: the mailbox is not guarded until fresh statistics come.',
    todo: 'Check whether the API is up, whether the mailbox still sends, and whether the request budget suffices (`warmwarden check --online`).',
  },
  inbox_rate_low: {
    means:
      'Over seven days less than 80 % of the delivered mails reached the inbox (at least 30 mails). It ends 5 points above.',
    done: readsOn,
    todo: 'Look at content, recipients and DNS. Slow the warm-up down if it goes on.',
  },
  health_score_drop: {
    means: "The API's health score is 15 points or more below the best of the last seven days.",
    done: readsOn,
    todo: 'Look at bounces, placement, DNS and blacklists of the mailbox: one of them usually explains it.',
  },
  key_shared: {
    means:
      'The API said 429 three times within an hour although Warmwarden counts its requests. Ends after an hour without.',
    done: 'Fewer requests are made for a while, so data gets older.',
    todo: 'Give Warmwarden a key of its own, raise headroom, or correct plan or requests_per_minute.',
  },
  budget_too_small: {
    means: 'For half an hour the configured cadence needs more requests than the plan allows.',
    done: 'What matters most is asked first; everything else gets older than configured.',
    todo: 'Run `warmwarden check --online` for the sum, then choose a slower cadence or a larger plan.',
  },
  config_reload_failed: {
    means:
      'A reload was refused: the file has mistakes, it would drop over a fifth of the mailboxes, or the store could not be read.',
    done: 'The previous configuration stays in force.',
    todo: 'Run `warmwarden check`, correct the file, and run `warmwarden reload` (with --force if the drop is intended).',
  },
  operator_acted: {
    means:
      'A person changed something through Warmwarden: on the command line, over HTTP, or by applying a recipe. The message says who, what, why and what came of it.',
    done: 'The command and its outcome are in the audit log.',
    todo: 'Nothing, if you expected it. `warmwarden history` shows the commands of the last days. To have every command notified, route this rule to a channel: without a route, alerts of severity info go to none.',
  },
  channel_failing: {
    means:
      'A channel has taken no message for 15 minutes while there was something to send. Told through the other channels.',
    done: 'Its messages wait in the outbox, in order, and are tried again with growing pauses for a day.',
    todo: 'Check the address and the receiver: `warmwarden channels test NAME` says what it answers.',
  },
  store_failing: {
    means:
      'A read or a write of the store failed: the disk is full, another process has locked the file, or the file is damaged, deleted or replaced. It ends when nothing has failed for a minute (longer after a relapse); a damaged file counts as damaged until Warmwarden is restarted. After a restart, the new process sends the resolved message once nothing has failed for a minute.',
    done: 'Warmwarden took no action that it could not record, and retries every few seconds. This alert is sent without the store, to each channel until the channel accepts it; `/readyz` fails. Other alerts are sent when the store works again.',
    todo: 'Follow the advice in the message, which depends on the cause; the log has it too.',
  },
};

/** The runbook for a reader to whom `command` starts this program. */
export function runbookOf(rule: AlertRule, command: string): Runbook {
  const { means, done, todo } = runbooks[rule];
  const asStarted = (text: string) => text.replaceAll('`warmwarden ', () => `\`${command} `);
  return { means: asStarted(means), done: asStarted(done), todo: asStarted(todo) };
}
