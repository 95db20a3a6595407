import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import type { Domain } from '../../../api/domains.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { ConfirmDialog, Dialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
import { SelectField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Menu } from '../../../components/menu.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { changeDomain, reloadDomains } from './change-domain.ts';

/** What may be done with a domain. What the rules refuse is refused with their sentence. */
export function DomainActions({
  install,
  domain,
  all,
  isCname,
  needsProof,
  objection,
}: {
  install: Install;
  domain: Domain;
  all: Domain[];
  isCname: boolean;
  /** It is not served before it is verified. */
  needsProof: boolean;
  /** Why it had better not be the primary domain yet; null: visitors by this name get here. */
  objection: string | null;
}) {
  const queries = useQueryClient();
  const [asking, setAsking] = useState<'primary' | 'redirect' | 'delete' | null>(null);
  const close = (open: boolean) => {
    if (!open) setAsking(null);
  };
  const isRedirect = domain.redirects_to.length > 0;
  const targets = all.filter(
    ({ id, name, redirects_to }) => id !== domain.id && redirects_to.length === 0 && !name.startsWith('*.'),
  );

  async function change(wanted: Parameters<typeof changeDomain>[3], sentence: string) {
    try {
      await changeDomain(queries, install.id, domain.id, wanted);
      showSuccess(sentence);
    } catch (error) {
      showFailure(error);
    }
  }

  async function remove() {
    await unwrapEmpty(
      hosting.DELETE('/installs/{install_id}/domains/{domain_id}', {
        params: { path: { install_id: install.id, domain_id: domain.id } },
      }),
    );
    await reloadDomains(queries, install.id);
    showSuccess(`${displayName(domain.name)} is deleted.`);
  }

  const isPrimaryNow = `${displayName(domain.name)} is the primary domain now.`;
  const cannotBePrimary =
    domain.primary || isRedirect || domain.duplicate || needsProof || domain.name.startsWith('*.');
  const entries = [
    ...(cannotBePrimary
      ? []
      : [
          {
            label: 'Make primary',
            onSelect: () =>
              objection === null ? void change({ primary: true }, isPrimaryNow) : setAsking('primary'),
          },
        ]),
    ...(domain.primary || targets.length === 0
      ? []
      : [{ label: isRedirect ? 'Redirect elsewhere' : 'Redirect', onSelect: () => setAsking('redirect') }]),
    ...(isRedirect
      ? [
          {
            label: 'Stop redirecting',
            onSelect: () =>
              void change({ redirect_to: null }, `${displayName(domain.name)} is redirected no more.`),
          },
        ]
      : []),
    ...(isCname || domain.primary ? [] : [{ label: 'Delete', onSelect: () => setAsking('delete') }]),
  ];

  return (
    <>
      {entries.length > 0 && (
        <Menu small label={`Change ${displayName(domain.name)}`} entries={entries}>
          Change <span aria-hidden="true">▾</span>
        </Menu>
      )}
      <ConfirmDialog
        open={asking === 'primary'}
        onOpenChange={close}
        title={`Make ${displayName(domain.name)} primary`}
        description={
          <p>
            {objection} The website may send its visitors to its primary domain, and until the DNS leads here
            they get nowhere. Better set the DNS record and press Check now first.
          </p>
        }
        confirmLabel="Make it primary"
        onConfirm={async () => {
          await changeDomain(queries, install.id, domain.id, { primary: true });
          showSuccess(isPrimaryNow);
        }}
      />
      <Dialog
        open={asking === 'redirect'}
        onOpenChange={close}
        title={`Redirect ${displayName(domain.name)}`}
        description={`Visitors of ${displayName(domain.name)} are sent on to another domain of this install.`}
      >
        <Form
          submitLabel="Redirect"
          onSubmit={async (values) => {
            await changeDomain(queries, install.id, domain.id, {
              redirect_to: textOf(values, 'redirect_to'),
            });
            showSuccess(`${displayName(domain.name)} is redirected.`);
            setAsking(null);
          }}
        >
          <SelectField
            label="To"
            name="redirect_to"
            defaultValue={targets.find(({ primary }) => primary)?.id}
            options={targets.map(({ id, name }) => ({ value: id, label: displayName(name) }))}
          />
        </Form>
      </Dialog>
      <ConfirmDialog
        open={asking === 'delete'}
        onOpenChange={close}
        title={`Delete ${displayName(domain.name)}`}
        description="Visitors by this name see the website no more, and its certificate is deleted. It can be added again."
        confirmLabel="Delete the domain"
        onConfirm={remove}
      />
    </>
  );
}
