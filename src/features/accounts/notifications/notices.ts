import { Value } from 'typebox/value';
import { RETRYABLE_KINDS } from '../../../lib/operation.ts';
import { eventFactsSchema } from '../events/schema.ts';
import type { PlacedEvent } from '../events/store.ts';
import { NOTIFIED_TYPES, problemOf, RULES, type Rule } from './rules.ts';

/** Facts of an operation that its event does not have. */
export interface OperationFacts {
  id: string;
  /** The user whose request started it; null for schedules and the operator. */
  starter: string | null;
  /** Code and reason of the last failure, of an earlier attempt if the operation succeeded. */
  error_code: string | null;
  reason: string | null;
  install_name: string | null;
  /** The backup is a part of other work, such as the checkpoint of an import. */
  is_checkpoint: boolean;
}

/** An event that people must know of, before it is known who they are. */
export interface Notice {
  event_seq: number;
  problem: string;
  subject: string;
  rule: Rule;
  starter: string | null;
  install_name: string | null;
  facts: Record<string, string | number | null>;
  /** The feature sends its own email to the owners, unless they chose otherwise. */
  ownersAreMailed: boolean;
}

export const isNotified = ({ type }: PlacedEvent): boolean => NOTIFIED_TYPES.has(type);

/** Turns an event into a notice; null if no one must know of it. */
export function noticeOf(
  event: PlacedEvent,
  operations: ReadonlyMap<string, OperationFacts>,
  installs: ReadonlyMap<string, string>,
): Notice | null {
  const data = Value.Check(eventFactsSchema, event.data) ? event.data : {};
  const known = operations.get(String(data.operation_id ?? ''));
  const problem = event.type.startsWith('operation.') ? `${event.type}:${data.kind ?? ''}` : event.type;
  const rule = RULES.get(problem);
  if (rule === undefined || known?.is_checkpoint === true) return null;
  const { operation_id, ...others } = data;
  const isRepeatable =
    rule.event === 'operation.failed' && RETRYABLE_KINDS.some((kind) => kind === rule.kind);
  const facts = isRepeatable && operation_id !== undefined ? { ...others, operation_id } : others;
  const install = event.install_id === null ? undefined : installs.get(event.install_id);
  return {
    event_seq: event.seq,
    problem: problemOf(rule),
    subject: subjectOf(event, rule, facts),
    rule,
    starter: known?.starter ?? null,
    install_name: install ?? known?.install_name ?? null,
    facts: known?.reason && rule.severity === 'error' ? { ...facts, reason: known.reason } : facts,
    ownersAreMailed: hasOwnMail(rule, facts, known),
  };
}

/** The thing with the problem. Further events about it are counted. */
function subjectOf(event: PlacedEvent, { kind, event: type }: Rule, facts: Notice['facts']): string {
  if (type === 'usage.limit_reached') return String(facts.limited);
  // Each threshold has a notification, which ends when the next one is reached.
  if (type === 'install.limit_reached') return `${event.install_id}:${facts.limited}:${facts.threshold}`;
  // Operations: each has its own id.
  const thing = kind === undefined ? event.subject_id : event.install_id;
  return thing ?? event.install_id ?? event.account_id;
}

/** Emails that features send to owners themselves, with more to say than a notification. */
function hasOwnMail(rule: Rule, facts: Notice['facts'], operation: OperationFacts | undefined): boolean {
  switch (rule.event) {
    case 'usage.limit_reached':
    case 'webhook.disabled':
      return true;
    case 'certificate.expiring':
      return facts.source === 'THIRD_PARTY';
    case 'operation.failed':
      return (
        rule.kind === 'wordpress.update' &&
        operation?.starter === null &&
        ['rolled_back', 'pages_differ'].includes(operation.error_code ?? '')
      );
    default:
      return false;
  }
}
