import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Install } from '../../../api/installs.ts';
import { type Protection, useProtection } from '../../../api/rules.ts';
import { RadioGroup, TextArea } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { linesOf } from '../../../components/lines.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { changeProtection } from './change-protection.ts';
import { VisitorPassword } from './visitor-password.tsx';

/** Who may visit a website: its password, blocked addresses, search engines and XML-RPC. */
export function ProtectionSection({ install }: { install: Install }) {
  const query = useProtection(install.id);
  return (
    <Loaded query={query} what="the protection">
      {(protection) => (
        <>
          <VisitorPassword install={install} password={protection.password} />
          <SearchEngines install={install} present={protection.noindex} />
          <BlockedAddresses install={install} present={protection.blocked_addresses} />
          {install.php_version !== null && <XmlRpc install={install} present={protection.xmlrpc} />}
        </>
      )}
    </Loaded>
  );
}

const NOINDEX = [
  {
    value: 'automatic',
    label: 'By environment',
    hint: 'Websites for staging and development stay out of search results. Production websites appear.',
  },
  { value: 'on', label: 'Keep out of search results' },
  { value: 'off', label: 'Allow in search results' },
] as const;

function SearchEngines({ install, present }: { install: Install; present: Protection['noindex'] }) {
  const queries = useQueryClient();
  const [wanted, setWanted] = useState<string>(present);
  return (
    <Section title="Search engines">
      <p>
        The header <code>X-Robots-Tag: noindex</code> tells search engines not to list a page. The default
        domain {install.cname} always sends it.
      </p>
      <Form
        submitLabel="Save"
        disabled={wanted === present}
        onSubmit={async () => {
          const noindex = NOINDEX.find(({ value }) => value === wanted)?.value;
          if (noindex !== undefined) await changeProtection(queries, install.id, { noindex }, 'Saved.');
        }}
      >
        <RadioGroup
          label="All other domains"
          name="noindex"
          options={NOINDEX}
          value={wanted}
          onChange={setWanted}
        />
      </Form>
    </Section>
  );
}

function BlockedAddresses({ install, present }: { install: Install; present: readonly string[] }) {
  const queries = useQueryClient();
  return (
    <Section title="Blocked addresses">
      <p>
        Visitors from these IP addresses get an error page on every domain of the website. Checks of your
        domains and certificates are not affected.
      </p>
      <Form
        key={present.join()}
        submitLabel="Save addresses"
        fieldOf={(name) => name.replace(/^blocked_addresses\b.*/, 'blocked_addresses')}
        onSubmit={(values) =>
          changeProtection(
            queries,
            install.id,
            { blocked_addresses: linesOf(textOf(values, 'blocked_addresses')) },
            'The blocked addresses are saved.',
          )
        }
      >
        <TextArea
          label="Addresses"
          name="blocked_addresses"
          hint="One address or range on each line, at most 200: 192.0.2.7, 192.0.2.0/24 or 2001:db8::/48."
          autoCapitalize="none"
          autoComplete="off"
          rows={5}
          defaultValue={present.join('\n')}
        />
      </Form>
    </Section>
  );
}

const XMLRPC = [
  { value: 'allowed', label: 'Allow XML-RPC', hint: 'The edge limits login attempts through it.' },
  {
    value: 'blocked',
    label: 'Block XML-RPC',
    hint: 'The WordPress apps use the REST API and still work. Jetpack and some old publishing tools do not.',
  },
] as const;

function XmlRpc({ install, present }: { install: Install; present: Protection['xmlrpc'] }) {
  const queries = useQueryClient();
  const [wanted, setWanted] = useState<string>(present);
  return (
    <Section title="XML-RPC">
      <p>
        Programs publish through <code>xmlrpc.php</code>, and attackers guess passwords there. Block it if you
        need no such program.
      </p>
      <Form
        submitLabel="Save"
        disabled={wanted === present}
        onSubmit={async () => {
          const xmlrpc = XMLRPC.find(({ value }) => value === wanted)?.value;
          if (xmlrpc !== undefined) await changeProtection(queries, install.id, { xmlrpc }, 'Saved.');
        }}
      >
        <RadioGroup
          label="Requests to xmlrpc.php"
          name="xmlrpc"
          options={XMLRPC}
          value={wanted}
          onChange={setWanted}
        />
      </Form>
    </Section>
  );
}
