import { Value } from 'typebox/value';
import type { Static } from '../../../api/schema.ts';
import { pluginSlug, type WordPressReading } from '../../../hosting/contract/wordpress.ts';
import { STATIC_ONLY } from '../../../hosting/policy/static-only.ts';
import { wordpressReading } from '../../../hosting/remote/wordpress-messages.ts';
import type { wordpressSchema, wordpressSummarySchema } from './schema.ts';
import type { KnownWordPress } from './service.ts';
import type { WordPressSummaryRow } from './store.ts';

/** The WordPress of an install as the API shows it. */
export function presentWordPress({
  version,
  isStatic,
  reading: row,
}: KnownWordPress): Static<typeof wordpressSchema> {
  const stored: unknown = row?.reading ?? null;
  // Another version of Homeport may have stored another form; it is read again within a day.
  const read = Value.Check(wordpressReading, stored) ? stored : null;
  return {
    core: presentCore(read?.core.version ?? version, read?.core.update?.version ?? null),
    plugins: (read?.plugins ?? []).map(({ autoUpdate, ...plugin }) => ({
      ...plugin,
      slug: pluginSlug(plugin.file),
      auto_update: autoUpdate,
    })),
    themes: (read?.themes ?? []).map(({ autoUpdate, ...theme }) => ({ ...theme, auto_update: autoUpdate })),
    administrators: (read?.administrators ?? []).map((user) => ({
      login: user.login,
      email: user.email,
      display_name: user.displayName,
      registered_at: user.registeredAt,
    })),
    site_health: presentHealth(read?.siteHealth ?? null, row?.health_examined_at ?? null),
    multisite: read?.multisite ?? false,
    is_complete: read?.isComplete ?? true,
    read_at: row?.read_at ?? null,
    updates_checked_at: row?.updates_checked_at ?? null,
    updates_error: row?.updates_error ?? null,
    error: isStatic ? STATIC_ONLY.reason : (row?.error ?? null),
  };
}

export function presentSummary(row: WordPressSummaryRow): Static<typeof wordpressSummarySchema> {
  return {
    install: { id: row.id, name: row.name, environment: row.environment },
    core: presentCore(row.core_version ?? row.wordpress_version, row.core_update),
    plugin_updates: row.plugin_updates ?? 0,
    theme_updates: row.theme_updates ?? 0,
    read_at: row.read_at,
    error: row.error,
  };
}

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
