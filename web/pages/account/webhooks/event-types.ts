import type { EventType } from '../../../api/webhooks.ts';

/** Types that users can choose. A `webhook.test` is delivered on request only. */
const CHOICES: Record<Exclude<EventType, 'webhook.test'>, true> = {
  'account.updated': true,
  'account_user.added': true,
  'account_user.updated': true,
  'account_user.removed': true,
  'site.created': true,
  'site.updated': true,
  'site.deleted': true,
  'site.transferred': true,
  'install.created': true,
  'install.updated': true,
  'install.active': true,
  'install.failed': true,
  'install.deleted': true,
  'domain.created': true,
  'domain.updated': true,
  'domain.active': true,
  'domain.failed': true,
  'domain.verified': true,
  'domain.unreachable': true,
  'domain.deleted': true,
  'certificate.issued': true,
  'certificate.uploaded': true,
  'certificate.failed': true,
  'certificate.expiring': true,
  'backup.created': true,
  'backup.completed': true,
  'backup.failed': true,
  'backup.deleted': true,
  'backup.missing': true,
  'backup.found': true,
  'operation.succeeded': true,
  'operation.failed': true,
  'operation.cancelled': true,
  'incident.started': true,
  'incident.ended': true,
  'usage.limit_reached': true,
  'install.limit_reached': true,
  'webhook.disabled': true,
};

const isChoice = (type: string): type is keyof typeof CHOICES => Object.hasOwn(CHOICES, type);

/** The types of events that a webhook can be limited to. */
export const EVENT_CHOICES = Object.keys(CHOICES).filter(isChoice);
export type EventChoice = (typeof EVENT_CHOICES)[number];

/** Returns the types that users can choose among these. */
export const eventChoicesOf = (types: readonly string[]): EventChoice[] => types.filter(isChoice);
