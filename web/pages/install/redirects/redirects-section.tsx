import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrap, unwrapEmpty, unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { loadRedirects, type Redirect, useRedirects } from '../../../api/rules.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, Dialog } from '../../../components/dialog.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { offerUndo } from '../../../components/offer-undo.ts';
import { Empty, MainSection } from '../../../components/page.tsx';
import { type Column, RowMenu, Table } from '../../../components/table.tsx';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';
import { MATCHES, RedirectForm } from './redirect-form.tsx';
import styles from './redirects.module.css';

/** The redirects of paths of a website. */
export function RedirectsSection({ install }: { install: Install }) {
  const query = useRedirects(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const [adding, setAdding] = useState(false);
  // Here instead of in the row, so that the form stays if someone else deletes the redirect.
  const [changing, setChanging] = useState<Redirect | null>(null);
  return (
    <MainSection
      intro="Redirects send visitors of old addresses to new ones, on every domain of the website. They come before files and WordPress. The first redirect that matches applies."
      actions={
        mayWork && (
          <Button variant="primary" onClick={() => setAdding(true)}>
            Add redirect
          </Button>
        )
      }
    >
      <Loaded query={query} what="the redirects">
        {(redirects) =>
          redirects.length === 0 ? (
            <Empty>There are no redirects yet. Add one when an address of the website changes.</Empty>
          ) : (
            <Table
              caption="Redirects in their order"
              columns={columns(install, redirects, mayWork ? setChanging : null)}
              rows={redirects}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      <Dialog open={adding} onOpenChange={setAdding} title="Add redirect">
        <RedirectForm installId={install.id} redirect={null} onDone={() => setAdding(false)} />
      </Dialog>
      <Dialog
        open={changing !== null}
        onOpenChange={(open) => open || setChanging(null)}
        title="Change redirect"
      >
        {changing && (
          <RedirectForm
            installId={install.id}
            redirect={query.data?.find(({ id }) => id === changing.id) ?? changing}
            onDone={() => setChanging(null)}
          />
        )}
      </Dialog>
    </MainSection>
  );
}

/** `onChange` opens the form; null for users who may not change redirects. */
function columns(
  install: Install,
  all: readonly Redirect[],
  onChange: ((redirect: Redirect) => void) | null,
): Column<Redirect>[] {
  return [
    { id: 'position', header: 'No.', cell: ({ position }) => position },
    {
      id: 'from',
      header: 'From',
      rowHeader: true,
      cell: ({ match, from }) => (
        <>
          <code className={styles.address}>{from}</code>{' '}
          <small className={styles.match}>{MATCHES[match].short}</small>
        </>
      ),
    },
    { id: 'to', header: 'To', cell: ({ to }) => <code className={styles.address}>{to}</code> },
    { id: 'status', header: 'Status', cell: ({ status }) => status },
    ...(onChange
      ? [
          {
            id: 'actions',
            header: 'Actions',
            cell: (redirect: Redirect) => (
              <RedirectActions install={install} redirect={redirect} all={all} onChange={onChange} />
            ),
          },
        ]
      : []),
  ];
}

function RedirectActions({
  install,
  redirect,
  all,
  onChange,
}: {
  install: Install;
  redirect: Redirect;
  onChange(redirect: Redirect): void;
  /** All redirects of the install, in their order. */
  all: readonly Redirect[];
}) {
  const queries = useQueryClient();
  const [isDeleting, setIsDeleting] = useState(false);
  const { id, from, position } = redirect;
  const params = { path: { install_id: install.id, redirect_id: id } };
  const reload = () => queries.invalidateQueries({ queryKey: ['rules', install.id, 'redirects'] });

  async function move(to: number) {
    try {
      await unwrap(
        hosting.PATCH('/installs/{install_id}/redirects/{redirect_id}', { params, body: { position: to } }),
      );
      await reload();
      showSuccess(`Moved ${from} to number ${to}.`);
    } catch (error) {
      showFailure(error);
    }
  }

  async function remove() {
    await unwrapEmpty(hosting.DELETE('/installs/{install_id}/redirects/{redirect_id}', { params }));
    await reload();
    const before = all.find((other) => other.position === position - 1);
    offerUndo(`Deleted the redirect of ${from}.`, async () => {
      const { match, to, status, keep_query } = redirect;
      const present = await loadRedirects(install.id);
      // Others may have moved redirects since.
      const moved = present.find((other) => other.id === before?.id);
      await unwrapStarted(
        hosting.POST('/installs/{install_id}/redirects', {
          params: { path: { install_id: install.id } },
          body: { position: moved ? moved.position + 1 : position, match, from, to, status, keep_query },
        }),
      );
      await reload();
      return `Restored the redirect of ${from}.`;
    });
  }

  return (
    <>
      <RowMenu
        name={from}
        entries={[
          { label: 'Change', onSelect: () => onChange(redirect) },
          ...(position > 1 ? [{ label: 'Move up', onSelect: () => void move(position - 1) }] : []),
          ...(position < all.length ? [{ label: 'Move down', onSelect: () => void move(position + 1) }] : []),
          { label: 'Delete', onSelect: () => setIsDeleting(true) },
        ]}
      />
      <ConfirmDialog
        open={isDeleting}
        onOpenChange={setIsDeleting}
        title="Delete redirect?"
        description={`Visitors of ${from} get the page of the website again. Browsers may remember a permanent redirect.`}
        confirmLabel="Delete"
        onConfirm={remove}
      />
    </>
  );
}
