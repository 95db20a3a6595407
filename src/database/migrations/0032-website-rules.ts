import { notifying, type Telling, writing } from './0005-change-feed.ts';
import type { ColumnTypes } from './column-types.ts';

/** Rules of installs for their visitors: protection, redirects and caching. */
export function websiteRules(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `create table website_rules (
      install_id ${t.uuid} primary key references installs (id) on delete cascade,
      protection ${t.json} not null,
      sealed_password ${t.text},
      password_hash ${t.text},
      redirects ${t.json} not null,
      cache_rules ${t.json} not null,
      updated_at ${t.time} not null
    )`,
    // Search engines may show these websites already, and only their owners know whether that is intended.
    `insert into website_rules (install_id, protection, redirects, cache_rules, updated_at)
      select id, '${KEPT}', '[]', 'null', created_at from installs where environment in ('staging', 'development')`,
    ...(dialect === 'postgres' ? notifying(told) : writing(told)),
  ];
}

const KEPT = JSON.stringify({
  xmlrpc: 'allowed',
  noindex: 'off',
  blocked_addresses: [],
  password: { enabled: false, username: null, allowed_addresses: [] },
});

const told: Telling = {
  topic: 'rules',
  table: 'website_rules',
  events: ['insert', 'update', 'delete'],
  what: 'select account_id, id, null, null from installs where id = it.install_id',
};
