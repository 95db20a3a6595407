import type { Install } from '../../../api/installs.ts';
import { type Protection, useProtection } from '../../../api/rules.ts';
import { RadioGroup, TextArea } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { linesOf } from '../../../components/lines.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { useProtectionDraft } from './change-protection.ts';
import { VisitorPassword } from './visitor-password.tsx';

/** Who may visit a website: its password, blocked addresses, search engines and XML-RPC. */
export function ProtectionSection({ install }: { install: Install }) {
  const query = useProtection(install.id);
  return (
    <Loaded query={query} what="the protection">
      {(protection) => (
        <>
          <VisitorPassword install={install} protection={protection} />
          <SearchEngines install={install} protection={protection} />
          <BlockedAddresses install={install} protection={protection} />
          {install.php_version !== null && <XmlRpc install={install} protection={protection} />}
        </>
      )}
    </Loaded>
  );
}

interface Part {
  install: Install;
  protection: Protection;
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

function SearchEngines({ install, protection }: Part) {
  const draft = useProtectionDraft(
    install,
    protection,
    ({ noindex }) => ({ noindex }),
    (edited) => edited,
    'Saved.',
  );
  return (
    <Section title="Search engines">
      <p>
        The header <code>X-Robots-Tag: noindex</code> tells search engines not to list a page. The default
        domain {install.cname} always sends it.
      </p>
      <Form draft={draft} submitLabel="Save">
        <RadioGroup label="All other domains" options={NOINDEX} {...draft.field('noindex')} />
      </Form>
    </Section>
  );
}

function BlockedAddresses({ install, protection }: Part) {
  const draft = useProtectionDraft(
    install,
    protection,
    ({ blocked_addresses }) => ({ blocked_addresses: blocked_addresses.join('\n') }),
    ({ blocked_addresses = '' }) => ({ blocked_addresses: linesOf(blocked_addresses) }),
    'The blocked addresses are saved.',
  );
  return (
    <Section title="Blocked addresses">
      <p>
        Visitors from these IP addresses get an error page on every domain of the website. Checks of your
        domains and certificates are not affected.
      </p>
      <Form
        draft={draft}
        submitLabel="Save addresses"
        fieldOf={(name) => name.replace(/^blocked_addresses\b.*/, 'blocked_addresses')}
      >
        <TextArea
          label="Addresses"
          hint="One address or range on each line, at most 200: 192.0.2.7, 192.0.2.0/24 or 2001:db8::/48."
          autoCapitalize="none"
          autoComplete="off"
          rows={5}
          {...draft.field('blocked_addresses')}
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

function XmlRpc({ install, protection }: Part) {
  const draft = useProtectionDraft(
    install,
    protection,
    ({ xmlrpc }) => ({ xmlrpc }),
    (edited) => edited,
    'Saved.',
  );
  return (
    <Section title="XML-RPC">
      <p>
        Programs publish through <code>xmlrpc.php</code>, and attackers guess passwords there. Block it if you
        need no such program.
      </p>
      <Form draft={draft} submitLabel="Save">
        <RadioGroup label="Requests to xmlrpc.php" options={XMLRPC} {...draft.field('xmlrpc')} />
      </Form>
    </Section>
  );
}
