import { Value } from 'typebox/value';
import type { Static } from '../../../api/schema.ts';
import type { CapabilityState } from '../../../hosting/contract/capabilities.ts';
import {
  pluginSlug,
  type WordPressReading,
  WordPressReadingSchema,
} from '../../../hosting/contract/wordpress.ts';
import type { wordpressSchema, wordpressSummarySchema } from './schema.ts';
import type { KnownWordPress, WordPressSummary } from './service.ts';

/** The WordPress of an install as the API shows it. */
export function presentWordPress({
  version,
  details,
  reading: row,
}: KnownWordPress): Static<typeof wordpressSchema> {
  const stored: unknown = row?.reading ?? null;
  // Another version of Homeport may have stored another form; it is read again within a day.
  const read = details.available && Value.Check(WordPressReadingSchema, stored) ? stored : null;
  return {
    core: presentCore(read?.core.version ?? version, read?.core.update?.version ?? null),
    // Null as long as they are unknown, because an empty list would say that there are none.
    plugins:
      read?.plugins.map(({ autoUpdate, ...plugin }) => ({
        ...plugin,
        slug: pluginSlug(plugin.file),
        auto_update: autoUpdate,
      })) ?? null,
    themes: read?.themes.map(({ autoUpdate, ...theme }) => ({ ...theme, auto_update: autoUpdate })) ?? null,
    administrators:
      read?.administrators.map((user) => ({
        login: user.login,
        email: user.email,
        display_name: user.displayName,
        registered_at: user.registeredAt,
      })) ?? null,
    site_health: presentHealth(read?.siteHealth ?? null, row?.health_examined_at ?? null),
    multisite: read?.multisite ?? null,
    is_complete: read?.isComplete ?? false,
    read_at: row?.read_at ?? null,
    updates_checked_at: row?.updates_checked_at ?? null,
    updates_error: row?.updates_error ?? null,
    error: errorOf(details, row?.error ?? null),
  };
}

export function presentSummary({ row, details }: WordPressSummary): Static<typeof wordpressSummarySchema> {
  // A row without a reading has zeros.
  const isKnown = details.available && row.read_at !== null;
  return {
    install: { id: row.id, name: row.name, environment: row.environment },
    core: presentCore(row.core_version ?? row.wordpress_version, row.core_update),
    plugin_updates: isKnown ? row.plugin_updates : null,
    theme_updates: isKnown ? row.theme_updates : null,
    read_at: row.read_at,
    error: errorOf(details, row.error),
  };
}

/** Why a website cannot be read, or could not be last time. */
const errorOf = (details: CapabilityState, error: string | null): string | null =>
  details.available ? error : `${details.reason} ${details.remedy}`;

function presentCore(version: string | null, update: string | null) {
  if (version === null) return null;
  return { version, available_update: update === null ? null : { version: update } };
}

function presentHealth(health: WordPressReading['siteHealth'], examinedAt: string | null) {
  if (health === null) {
    return {
      status: 'unknown' as const,
      good: 0,
      recommended: 0,
      critical: 0,
      issues: [],
      examined_at: null,
    };
  }
  const { good, recommended, critical, issues } = health;
  const status = isGood(health) ? ('good' as const) : ('should_be_improved' as const);
  return { status, good, recommended, critical, issues, examined_at: examinedAt };
}

/** WordPress' own rule (site-health.js): a critical issue counts one and a half tests, a recommendation half of one. */
function isGood({ good, recommended, critical }: { good: number; recommended: number; critical: number }) {
  const total = good + recommended + critical * 1.5;
  if (total === 0) return false;
  const passed = 100 - Math.ceil(((recommended * 0.5 + critical * 1.5) / total) * 100);
  return critical === 0 && passed >= 80;
}
