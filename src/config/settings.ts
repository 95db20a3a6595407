import { API_SETTINGS } from './settings/api.ts';
import { BACKUP_SETTINGS } from './settings/backups.ts';
import { CDN_SETTINGS } from './settings/cdn.ts';
import { CERTIFICATE_AUTHORITY_SETTINGS } from './settings/certificate-authority.ts';
import { DOMAIN_CHECK_SETTINGS } from './settings/domain-checks.ts';
import { EDGE_SETTINGS } from './settings/edge.ts';
import { HOST_SETTINGS } from './settings/host.ts';
import { MAIL_SETTINGS } from './settings/mail.ts';
import { OFFLOAD_SETTINGS } from './settings/offload.ts';
import { PHP_SETTINGS } from './settings/php.ts';
import { PROCESS_SETTINGS } from './settings/process.ts';
import { PROXY_SETTINGS } from './settings/proxy.ts';
import { RELEASE_SETTINGS } from './settings/releases.ts';
import type { Setting } from './settings/setting.ts';
import { TRACING_SETTINGS } from './settings/tracing.ts';
import { WEBHOOK_SETTINGS } from './settings/webhooks.ts';

/**
 * All settings: the source of their types, of their validation, and of the table in docs/configuration.md, which has the same
 * order.
 */
export const SETTINGS = {
  ...PROCESS_SETTINGS,
  ...RELEASE_SETTINGS,
  ...API_SETTINGS,
  ...EDGE_SETTINGS,
  ...DOMAIN_CHECK_SETTINGS,
  ...WEBHOOK_SETTINGS,
  ...CERTIFICATE_AUTHORITY_SETTINGS,
  ...HOST_SETTINGS,
  ...PHP_SETTINGS,
  ...BACKUP_SETTINGS,
  ...CDN_SETTINGS,
  ...MAIL_SETTINGS,
  ...OFFLOAD_SETTINGS,
  ...PROXY_SETTINGS,
  ...TRACING_SETTINGS,
} satisfies Record<string, Setting<unknown>>;
