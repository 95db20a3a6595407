import { type ReactNode, useState } from 'react';
import { type Domain, useDomainStates, useDomains } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { displayName } from '../../../components/display-name.ts';
import { TextField } from '../../../components/fields.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { useEditableText, useQueryParameters } from '../../../components/query-parameters.ts';
import { TableTools } from '../../../components/table.tsx';
import { useMay } from '../../../session/session.ts';
import { AddDomains } from './add-domains.tsx';
import { CheckAll } from './check-all.tsx';
import { DomainCard } from './domain-card.tsx';
import styles from './domains.module.css';
import { twinOf } from './new-names.ts';

/** From this many domains on, there is a search field. */
const SEARCHED_FROM = 8;
/** Each card loads its last report, so the list is limited. */
const SHOWN_AT_ONCE = 20;

/** The domains of an install. */
export function DomainsSection({ install }: { install: Install }) {
  const domains = useDomains(install.id);
  const states = useDomainStates(install.id);
  const operations = useOperations(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const [adding, setAdding] = useState(false);
  return (
    <Section
      title="Domains"
      actions={
        mayWork && (
          <>
            {(domains.data?.length ?? 0) > 1 && (
              <CheckAll installId={install.id} next={operations.data?.next.check_status ?? null} />
            )}
            <Button variant="primary" onClick={() => setAdding(true)}>
              Add domains
            </Button>
          </>
        )
      }
    >
      <Loaded query={domains} what="domains">
        {(all) => {
          const stateOf = (domain: Domain | undefined) =>
            states.data?.find(({ domain_id }) => domain_id === domain?.id);
          return (
            <>
              <AddDomains open={adding} onOpenChange={setAdding} installId={install.id} present={all} />
              <DomainList all={all}>
                {(domain) => (
                  <DomainCard
                    key={domain.id}
                    install={install}
                    domain={domain}
                    all={all}
                    state={stateOf(domain)}
                    twinState={stateOf(all.find(({ name }) => name === twinOf(domain.name)))}
                    nextCheck={operations.data?.next.check_status ?? null}
                    nextVerification={operations.data?.next.verify_domain ?? null}
                    mayWork={mayWork}
                  />
                )}
              </DomainList>
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function DomainList({ all, children }: { all: Domain[]; children: (domain: Domain) => ReactNode }) {
  const { get, set } = useQueryParameters();
  const [search, setSearch] = useEditableText(get('search'), (search) => set({ search }));
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  // Users who arrived with a search can change it.
  const [cameBySearch] = useState(search !== '');
  const found = all.filter(({ name }) => displayName(name).includes(search.trim().toLowerCase()));
  return (
    <>
      {(all.length >= SEARCHED_FROM || cameBySearch) && (
        <TableTools>
          <TextField
            type="search"
            label="Search domains"
            name="search"
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        </TableTools>
      )}
      {found.length === 0 && <Empty>No domains match "{search}".</Empty>}
      <ul className={styles.list}>{found.slice(0, most).map(children)}</ul>
      {found.length > most && (
        <Button onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show more ({found.length - most} hidden)
        </Button>
      )}
    </>
  );
}
