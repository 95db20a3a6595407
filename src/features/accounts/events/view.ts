import { Value } from 'typebox/value';
import { EVENT_VERSION, type EventView, eventFactsSchema } from './schema.ts';

/** A stored event, as far as users see it. */
export interface StoredEvent {
  id: string;
  type: string;
  account_id: string;
  install_id: string | null;
  data: unknown;
  created_at: string;
}

/** An event as the API shows it and as webhooks deliver it. */
export function eventView({ id, type, account_id, install_id, data, created_at }: StoredEvent): EventView {
  return {
    id,
    type,
    version: EVENT_VERSION,
    timestamp: created_at,
    account_id,
    install_id,
    data: Value.Check(eventFactsSchema, data) ? data : {},
  };
}
