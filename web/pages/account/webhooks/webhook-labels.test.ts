import { describe, expect, it } from 'vitest';
import { answerLabel, deliveryState, eventsLabel, installsLabel } from './webhook-labels.ts';

describe('labels of webhooks', () => {
  it('count types of events and installs', () => {
    expect(
      [null, ['site.created'], ['site.created', 'site.deleted', 'webhook.test']].map(eventsLabel),
    ).toEqual(['All', '1 type', '2 types']);
    expect([null, ['a'], ['a', 'b']].map(installsLabel)).toEqual(['All', '1 install', '2 installs']);
  });

  it('tell a delivery that waits from one that is retried', () => {
    expect(deliveryState({ state: 'pending', attempts: 0 })).toEqual(['Waiting', 'busy']);
    expect(deliveryState({ state: 'pending', attempts: 2 })).toEqual(['Retrying', 'busy']);
    expect(deliveryState({ state: 'failed', attempts: 2 })).toEqual(['Failed', 'bad']);
  });

  it('show the answer of the receiver, if it answered', () => {
    expect(answerLabel({ response_status: 500, duration_ms: 31 })).toBe('HTTP 500 in 31 ms');
    expect(answerLabel({ response_status: null, duration_ms: 10_000 })).toBe('No answer');
  });
});
