// The schema's step that lets long lists be walked by their age: no list is sorted, and none is searched from end to end.
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

export async function growingLists({ schema }: Kysely<Tables>): Promise<void> {
  await schema
    .createIndex('mailboxes_by_departure')
    .on('mailboxes')
    .columns(['left_at', 'account', 'mailbox_id'])
    .execute();
  await schema.createIndex('deliveries_by_age').on('deliveries').columns(['created_at', 'sequence']).execute();
  await schema.createIndex('deliveries_of_channel').on('deliveries').columns(['channel', 'sequence']).execute();
  await schema.dropIndex('deliveries_by_state').execute();
  await schema.createIndex('deliveries_by_state').on('deliveries').columns(['state', 'settled_at', 'id']).execute();
  await schema.dropIndex('actions_by_time').execute();
  await schema.createIndex('actions_by_age').on('actions').columns(['planned_at', 'id']).execute();
  const underWay = schema.createIndex('commands_under_way').on('operator_commands').columns(['result', 'id']);
  await underWay.where('result', 'is', null).execute();
  const unended = schema.createIndex('runs_under_way').on('runs').columns(['ended', 'id']);
  await unended.where('ended', '=', 0).execute();
  const remembered = schema.createIndex('runs_remembered').on('runs').columns(['run', 'id']);
  await remembered.where('run', 'is', null).execute();
}
