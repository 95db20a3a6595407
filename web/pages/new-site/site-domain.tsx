import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../api/client.ts';
import { type Domain, useDomains } from '../../api/domains.ts';
import { ApiFailure, FormError, unwrap } from '../../api/failure.ts';
import type { Install } from '../../api/installs.ts';
import { Button } from '../../components/button.tsx';
import { displayName } from '../../components/display-name.ts';
import { CheckboxField, TextField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { reloadDomains } from '../install/domains/change-domain.ts';
import { dnsAdvice } from '../install/domains/dns-advice.ts';
import { Records } from '../install/domains/dns-records.tsx';
import { nameErrors, readNames, withTwins } from '../install/domains/new-names.ts';
import { InstallNotice } from '../install/install-notice.tsx';
import styles from './new-site.module.css';
import { StepContent } from './steps.tsx';

/** The third step: a domain of the user's own, and the DNS records that point it here. */
export function SiteDomain({ install, onDone }: { install: Install; onDone(): void }) {
  const domains = useDomains(install.id);
  return (
    <Loaded query={domains} what="domains">
      {(all) => {
        const own = all.filter(({ name }) => name !== install.cname);
        return own.length === 0 ? (
          <AddDomain install={install} onSkip={onDone} />
        ) : (
          <DnsHelp install={install} domains={own} onDone={onDone} />
        );
      }}
    </Loaded>
  );
}

function AddDomain({ install, onSkip }: { install: Install; onSkip(): void }) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const [twins, setTwins] = useState(true);
  const domains = withTwins(readNames(typed), [], twins);

  async function add() {
    const [first, ...others] = domains.filter(({ redirect_to }) => redirect_to === undefined);
    if (first === undefined || others.length > 0) {
      const message =
        first === undefined ? 'Enter a domain name.' : 'Enter one domain name. You can add more later.';
      throw new FormError(message, [{ field: 'names', message }]);
    }
    await unwrap(
      hosting.POST('/installs/{install_id}/domains/bulk', {
        params: { path: { install_id: install.id } },
        body: { domains },
      }),
    ).catch((error: unknown) => {
      if (!(error instanceof ApiFailure) || error.fieldErrors.length === 0) throw error;
      throw new FormError('The domain was not added.', nameErrors(error.fieldErrors, domains));
    });
    await reloadDomains(queries, install.id);
  }

  const redirect = domains.find(({ redirect_to }) => redirect_to !== undefined);
  return (
    <StepContent title="Which domain should it have?">
      <p>
        The website has the address <code>{install.cname}</code>. If you own a domain, add it now. We show
        which DNS records to set.
      </p>
      <Form
        submitLabel="Add domain"
        actions={<Button onClick={onSkip}>Skip this step</Button>}
        onSubmit={add}
      >
        <TextField
          label="Domain name"
          name="names"
          hint="For example, example.com or shop.example.com."
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          maxLength={300}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <CheckboxField
          label="Also add and redirect the www name"
          name="twins"
          hint={
            redirect
              ? `${displayName(redirect.name)} redirects to ${displayName(redirect.redirect_to ?? '')}`
              : 'For example, www.example.com redirects to example.com.'
          }
          checked={twins}
          onChange={(event) => setTwins(event.currentTarget.checked)}
        />
      </Form>
      {/* At the end, because it disappears once the website is ready. */}
      <InstallNotice install={install} />
    </StepContent>
  );
}

function DnsHelp({
  install,
  domains,
  onDone,
}: {
  install: Install;
  domains: readonly Domain[];
  onDone(): void;
}) {
  return (
    <StepContent title="Point the domain here">
      <p>
        Add these records at your DNS provider, and remove other A, AAAA and CNAME records of the same names.
        You can also do this later: the page Domains shows the records again and checks them.
      </p>
      {domains.map((domain) => {
        const { cname, addresses } = dnsAdvice(domain);
        const name = displayName(domain.name);
        return (
          <section key={domain.id} className={styles.step} aria-label={`DNS records for ${name}`}>
            <h3>{name}</h3>
            {cname === null && addresses.length === 0 ? (
              <p className={styles.soft}>The records appear once the install has its addresses.</p>
            ) : (
              <Records domain={name} records={cname ? [cname] : addresses} />
            )}
          </section>
        );
      })}
      <div className={styles.row}>
        <Button variant="primary" onClick={onDone}>
          Continue
        </Button>
      </div>
      <InstallNotice install={install} />
    </StepContent>
  );
}
