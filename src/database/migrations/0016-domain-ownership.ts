import type { ColumnTypes } from './column-types.ts';

/**
 * Adds the ownership of domain names. Served names stay served. A duplicate in another account needs proof to take over the name.
 */
export function domainOwnership(t: ColumnTypes): string[] {
  return [
    `alter table domains add column needs_proof ${t.boolean} not null default ${t.false}
      check (is_duplicate or not needs_proof)`,
    `update domains set needs_proof = ${t.true}
      where is_duplicate and exists (
        select 1 from domains as serving
        join installs as theirs on theirs.id = serving.install_id
        join installs as ours on ours.id = domains.install_id
        where serving.name = domains.name and not serving.is_duplicate and theirs.account_id <> ours.account_id
      )`,

    `create table domain_proofs (
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      registrable ${t.text} not null,
      token ${t.text} not null,
      verified_at ${t.time},
      next_look_at ${t.time},
      created_at ${t.time} not null,
      primary key (account_id, registrable)
    )`,
    'create index domain_proofs_registrable on domain_proofs (registrable)',
    'create index domain_proofs_next_look on domain_proofs (next_look_at)',

    `create table released_names (
      name ${t.text} not null,
      account_id ${t.uuid} not null,
      released_at ${t.time} not null,
      primary key (name, account_id)
    )`,
    'create index released_names_age on released_names (released_at)',
  ];
}
