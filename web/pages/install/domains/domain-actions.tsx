import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import type { Domain } from '../../../api/domains.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, Dialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
import { SelectField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import type { MenuEntry } from '../../../components/menu.tsx';
import { RowMenu } from '../../../components/table.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { changeDomain, reloadDomains } from './change-domain.ts';

/** The actions of a domain: a menu in its row, or buttons. If the server refuses one, its message is shown. */
export function DomainActions({
  install,
  domain,
  all,
  isCname,
  needsProof,
  warning,
  menu,
}: {
  install: Install;
  domain: Domain;
  all: Domain[];
  isCname: boolean;
  /** Whether the domain must be verified before it is served. */
  needsProof: boolean;
  /** Why the domain should not be primary yet; null if it points here. */
  warning: string | null;
  /** The entries of the menu before the actions; buttons if left out. */
  menu?: readonly MenuEntry[];
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
    showSuccess(`Deleted ${displayName(domain.name)}.`);
  }

  const isPrimaryNow = `${displayName(domain.name)} is now the primary domain.`;
  const cannotBePrimary =
    domain.primary || isRedirect || domain.duplicate || needsProof || domain.name.startsWith('*.');
  const entries = [
    ...(cannotBePrimary
      ? []
      : [
          {
            label: 'Make primary',
            onSelect: () =>
              warning === null ? void change({ primary: true }, isPrimaryNow) : setAsking('primary'),
          },
        ]),
    ...(domain.primary || targets.length === 0
      ? []
      : [{ label: isRedirect ? 'Change redirect' : 'Redirect', onSelect: () => setAsking('redirect') }]),
    ...(isRedirect
      ? [
          {
            label: 'Stop redirecting',
            onSelect: () =>
              void change({ redirect_to: null }, `${displayName(domain.name)} is no longer redirected.`),
          },
        ]
      : []),
    ...(isCname || domain.primary ? [] : [{ label: 'Delete', onSelect: () => setAsking('delete') }]),
  ];

  return (
    <>
      {menu === undefined ? (
        entries.map(({ label, onSelect }) => (
          <Button
            key={label}
            small
            aria-label={`${label}: ${displayName(domain.name)}`}
            onClick={() => onSelect()}
          >
            {label}
          </Button>
        ))
      ) : (
        <RowMenu name={displayName(domain.name)} entries={[...menu, ...entries]} />
      )}
      <ConfirmDialog
        open={asking === 'primary'}
        onOpenChange={close}
        title={`Make ${displayName(domain.name)} primary`}
        description={
          <p>
            {warning} The website may send all visitors to its primary domain, which does not work until the
            DNS points here. We recommend that you set the DNS record and select Check now first.
          </p>
        }
        confirmLabel="Make primary anyway"
        onConfirm={async () => {
          await changeDomain(queries, install.id, domain.id, { primary: true });
          showSuccess(isPrimaryNow);
        }}
      />
      <Dialog
        open={asking === 'redirect'}
        onOpenChange={close}
        title={`Redirect ${displayName(domain.name)}`}
        description={`Visitors of ${displayName(domain.name)} are redirected to another domain of this install.`}
      >
        <Form
          submitLabel="Redirect"
          onSubmit={async (values) => {
            await changeDomain(queries, install.id, domain.id, {
              redirect_to: textOf(values, 'redirect_to'),
            });
            showSuccess(`${displayName(domain.name)} is now redirected.`);
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
        description="The website is no longer available at this domain, and its certificate is deleted. You can add the domain again."
        confirmLabel="Delete domain"
        onConfirm={remove}
      />
    </>
  );
}
