import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import {
  type CacheRules,
  type PathRedirect,
  REDIRECT_MATCHES,
  REDIRECT_STATUSES,
} from '../../../hosting/contract/website-rules.ts';
import { findRules, type RulesToStore } from './store.ts';

// The rules of an install as JSON in the database.

const ProtectionSchema = Type.Object({
  xmlrpc: Type.Enum(['allowed', 'blocked']),
  /** `automatic`: for staging and development environments. */
  noindex: Type.Enum(['automatic', 'on', 'off']),
  blocked_addresses: Type.Array(Type.String()),
  password: Type.Object({
    enabled: Type.Boolean(),
    /** Null: the name of the install. */
    username: Type.Union([Type.String(), Type.Null()]),
    allowed_addresses: Type.Array(Type.String()),
  }),
});

const RedirectSchema = Type.Object({
  id: Type.String(),
  match: Type.Enum([...REDIRECT_MATCHES]),
  from: Type.String(),
  to: Type.String(),
  status: Type.Enum([...REDIRECT_STATUSES]),
  keep_query: Type.Boolean(),
});

const CacheRulesSchema = Type.Object({
  uncached_paths: Type.Array(Type.Object({ match: Type.Enum(['exact', 'prefix']), path: Type.String() })),
  bypass_cookies: Type.Array(Type.String()),
  ignored_parameters: Type.Array(Type.String()),
  max_age: Type.Integer(),
});

export type StoredProtection = Type.Static<typeof ProtectionSchema>;
export type StoredRedirect = Type.Static<typeof RedirectSchema>;
export type StoredCacheRules = Type.Static<typeof CacheRulesSchema>;

export interface StoredRules extends RulesToStore {
  protection: StoredProtection;
  redirects: StoredRedirect[];
  cache_rules: StoredCacheRules | null;
}

/** The rules of an install whose customer chose none. */
export const USUAL_RULES: StoredRules = {
  protection: {
    xmlrpc: 'allowed',
    noindex: 'automatic',
    blocked_addresses: [],
    password: { enabled: false, username: null, allowed_addresses: [] },
  },
  sealed_password: null,
  password_hash: null,
  redirects: [],
  cache_rules: null,
};

export async function loadRules(queries: Queries, installId: string): Promise<StoredRules> {
  const row = await findRules(queries, installId);
  if (row === undefined) return USUAL_RULES;
  return {
    ...row,
    protection: Value.Parse(ProtectionSchema, row.protection),
    redirects: Value.Parse(Type.Array(RedirectSchema), row.redirects),
    cache_rules: Value.Parse(Type.Union([CacheRulesSchema, Type.Null()]), row.cache_rules),
  };
}

/** A redirect as hosts know it. */
export function hostRedirect({
  match,
  from,
  to,
  status,
  keep_query,
}: Omit<StoredRedirect, 'id'>): PathRedirect {
  return { match, from, to, status, keepQuery: keep_query };
}

export function hostCacheRules(rules: StoredCacheRules): CacheRules {
  return {
    uncachedPaths: rules.uncached_paths.map(({ match, path }) => ({ match, path })),
    bypassCookies: rules.bypass_cookies,
    ignoredParameters: rules.ignored_parameters,
    pageSeconds: rules.max_age,
  };
}
