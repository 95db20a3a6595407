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

/** More than these are found by searching rather than by looking. */
const SEARCHED_FROM = 8;
/** Each shows its last report: not hundreds at once. */
const SHOWN_AT_ONCE = 20;

/** The host names of a website. */
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
  const [sought, setSought] = useEditableText(get('search'), (search) => set({ search }));
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  // Whoever came by a search can widen it.
  const [cameBySearch] = useState(sought !== '');
  const found = all.filter(({ name }) => displayName(name).includes(sought.trim().toLowerCase()));
  return (
    <>
      {(all.length >= SEARCHED_FROM || cameBySearch) && (
        <TableTools>
          <TextField
            type="search"
            label="Search domains"
            name="search"
            value={sought}
            onChange={(event) => setSought(event.currentTarget.value)}
          />
        </TableTools>
      )}
      {found.length === 0 && <Empty>No domain has "{sought}" in its name.</Empty>}
      <ul className={styles.list}>{found.slice(0, most).map(children)}</ul>
      {found.length > most && (
        <Button onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show more ({found.length - most} are not shown)
        </Button>
      )}
    </>
  );
}
