import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { adviceFor, OPERATION_KINDS, type OperationKind, parseErrorCode } from '../../../lib/operation.ts';
import type { operationSchema } from './schema.ts';
import type { OperationRecord } from './store.ts';

export type Operation = Static<typeof operationSchema>;

const storedKind = Type.Enum([...OPERATION_KINDS]);
const storedResult = Type.Union([Type.Null(), Type.Record(Type.String(), Type.String())]);

/** An operation as the API and the portal show it. */
export function presentOperation(record: OperationRecord): Operation {
  const { id, status, account_id, created_at, started_at, finished_at } = record;
  const kind = Value.Parse(storedKind, record.kind);
  return {
    id,
    kind,
    status,
    account_id,
    install: record.install_id === null ? null : { id: record.install_id, name: record.install_name ?? '' },
    created_at,
    started_at,
    finished_at,
    progress: progressOf(record),
    error: errorOf(kind, record),
    result: status === 'succeeded' ? Value.Parse(storedResult, record.result) : null,
  };
}

/** The last report may be some seconds old, so finished work counts as complete. */
function progressOf({ status, ...record }: OperationRecord): Operation['progress'] {
  const { progress_done: done, progress_total: total, progress_unit: unit, progress_step } = record;
  if (done === null || unit === null) return null;
  const step = status === 'succeeded' ? null : progress_step;
  return { done: status === 'succeeded' ? (total ?? done) : done, total, unit, step };
}

function errorOf(kind: OperationKind, record: OperationRecord): Operation['error'] {
  const { status, error_message, reason } = record;
  // Of a cancelled operation, only what its cancellation could not settle.
  if ((status === 'failed' || status === 'cancelled') && error_message !== null) {
    const code = parseErrorCode(record.error_code);
    return { code, message: error_message, advice: adviceFor(kind, code) };
  }
  if (reason === null || status === 'succeeded' || status === 'cancelled') return null;
  const code = parseErrorCode(record.reason_code);
  return { code, message: reason, advice: status === 'failed' ? adviceFor(kind, code) : null };
}
