import { EVENT_TRIGGERS, eventTrigger } from './0025-event-triggers.ts';
import type { ColumnTypes } from './column-types.ts';

/** The event log, and the webhooks that deliver it (docs/decisions/events.md). */
export function events(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `create table events (
      seq ${t.seq},
      id ${t.uuid} not null constraint events__id unique,
      position ${t.integer} constraint events__position unique,
      type ${t.text} not null,
      account_id ${t.uuid} not null,
      install_id ${t.uuid},
      subject_id ${t.uuid},
      data ${t.json} not null,
      created_at ${t.time} not null
    )`,
    'create index events_unplaced on events (seq) where position is null',
    'create index events_account on events (account_id, position)',
    'create index events_install on events (install_id, position)',
    'create index events_age on events (created_at)',

    // One row: the lock under which positions are given, and the last one. It survives the deletion of all events.
    `create table event_positions (
      id ${t.integer} primary key check (id = 1),
      last ${t.integer} not null
    )`,
    'insert into event_positions (id, last) values (1, 0)',

    `create table webhooks (
      seq ${t.seq},
      id ${t.uuid} not null constraint webhooks__id unique,
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      url ${t.text} not null,
      description ${t.text} not null,
      event_types ${t.json},
      install_ids ${t.json},
      enabled ${t.boolean} not null default ${t.true},
      disabled_reason ${t.text},
      sealed_secret ${t.text} not null,
      previous_sealed_secret ${t.text},
      previous_until ${t.time},
      lease_holder ${t.uuid},
      lease_until ${t.time},
      created_at ${t.time} not null,
      updated_at ${t.time} not null
    )`,
    'create index webhooks_account on webhooks (account_id, seq)',

    `create table webhook_deliveries (
      seq ${t.seq},
      id ${t.uuid} not null constraint webhook_deliveries__id unique,
      webhook_id ${t.uuid} not null references webhooks (id) on delete cascade,
      event_seq ${t.integer} not null references events (seq) on delete cascade,
      lane ${t.text} not null,
      once ${t.boolean} not null default ${t.false},
      state ${t.text} not null default 'pending' check (state in ('pending', 'succeeded', 'failed')),
      attempts ${t.integer} not null default 0,
      first_attempt_at ${t.time},
      last_attempt_at ${t.time},
      next_attempt_at ${t.time},
      response_status ${t.integer},
      response_body ${t.text},
      error ${t.text},
      duration_ms ${t.integer},
      created_at ${t.time} not null
    )`,
    'create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, seq)',
    `create index webhook_deliveries_pending on webhook_deliveries (webhook_id, lane, seq) where state = 'pending'`,
    `create index webhook_deliveries_retried on webhook_deliveries (webhook_id, seq)
      where state = 'pending' and next_attempt_at is not null`,
    'create index webhook_deliveries_event on webhook_deliveries (event_seq)',

    ...EVENT_TRIGGERS.flatMap((trigger) => eventTrigger(trigger, t, dialect)),

    // The job that ended was not the last one of its operation.
    ...(dialect === 'postgres' ? [CONTINUED_ON_POSTGRES] : []),
    dialect === 'postgres'
      ? `create trigger events_operations_continued after update of job_id on operations for each row
          when (old.job_id is distinct from new.job_id) execute function homeport_operation_continued()`
      : `create trigger events_operations_continued after update of job_id on operations for each row
          when old.job_id is distinct from new.job_id
          begin
            ${WITHDRAW}
          end`,
  ];
}

const WITHDRAW = `delete from events where position is null and subject_id = new.id and type = 'operation.succeeded';`;

const CONTINUED_ON_POSTGRES = `create function homeport_operation_continued() returns trigger language plpgsql as $$
  begin
    ${WITHDRAW}
    return null;
  end $$`;
