import { setting } from './setting.ts';
import { trueOrFalse } from './setting-values.ts';

/** Deliveries of events to the addresses that users give. */
export const WEBHOOK_SETTINGS = {
  webhookHttp: setting(
    'HOMEPORT_WEBHOOK_HTTP',
    'false',
    '`true`: webhooks may have `http://` addresses; anyone on the way can then read their events',
    trueOrFalse,
  ),
};
