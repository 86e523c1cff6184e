// `reload` as an operator command: what a signal or a rotated secret starts has no person, and is not in the audit log.
import type { CommandOutcome, ReloadRequest } from '../core/operator-command.ts';
import type { Audited } from './audit.ts';

export function reloadCommand(reload: (request: ReloadRequest) => Promise<CommandOutcome>, audited: Audited) {
  return async (request: ReloadRequest): Promise<CommandOutcome> => {
    if (request.dryRun) return reload(request);
    const { by, reason = '', force } = request;
    const command = force ? 'reload --force' : 'reload';
    return audited({ by, reason }, { name: 'reload', command, account: null, mailboxes: [] }, () => reload(request));
  };
}
