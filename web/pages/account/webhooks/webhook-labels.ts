import type { Delivery } from '../../../api/webhooks.ts';
import type { Tone } from '../../../components/notice.tsx';
import { eventChoicesOf } from './event-types.ts';

/** Returns how many types of events a webhook gets. */
export function eventsLabel(types: readonly string[] | null): string {
  if (types === null) return 'All';
  const { length } = eventChoicesOf(types);
  return length === 1 ? '1 type' : `${length} types`;
}

/** Returns of how many installs a webhook gets the events. */
export function installsLabel(ids: readonly string[] | null): string {
  if (ids === null) return 'All';
  return ids.length === 1 ? '1 install' : `${ids.length} installs`;
}

/** Returns the state of a delivery in a word, with its tone. */
export function deliveryState({ state, attempts }: Pick<Delivery, 'state' | 'attempts'>): [string, Tone] {
  if (state === 'succeeded') return ['Delivered', 'good'];
  if (state === 'failed') return ['Failed', 'bad'];
  return [attempts === 0 ? 'Waiting' : 'Retrying', 'busy'];
}

/** Returns the receiver's answer in a few words: "HTTP 500 in 31 ms". */
export function answerLabel({
  response_status: status,
  duration_ms: duration,
}: Pick<Delivery, 'response_status' | 'duration_ms'>): string {
  const answer = status === null ? 'No answer' : `HTTP ${status}`;
  return status === null || duration === null ? answer : `${answer} in ${duration} ms`;
}
