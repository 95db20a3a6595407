import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ListedInstall, useFirstInstalls } from '../../api/install-list.ts';
import type { Site } from '../../api/sites.ts';
import { Button } from '../../components/button.tsx';
import { ChoiceField } from '../../components/choice-field.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type Environment, environmentLabel } from '../../components/environments.ts';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useSearchText } from '../../components/search-text.ts';
import { moveWithUndo } from './move-with-undo.ts';

/** Moves an existing install into an environment of the site. The dialog is closed while `environment` is undefined. */
export function MoveInstallDialog({
  site,
  environment,
  onClose,
}: {
  site: Site;
  environment: Environment | undefined;
  onClose(): void;
}) {
  return (
    <Dialog
      open={environment !== undefined}
      onOpenChange={(open) => open || onClose()}
      title="Move install here"
      description={
        environment &&
        `The install becomes ${environmentLabel(environment)} of ${site.name}. This does not affect the website.`
      }
    >
      {environment && <Choice site={site} environment={environment} onClose={onClose} />}
    </Dialog>
  );
}

interface Place {
  site: Site;
  environment: Environment;
}

function Choice({ site, environment, onClose }: Place & { onClose(): void }) {
  const installs = useFirstInstalls(site.account.id, {});
  return (
    <Loaded query={installs} what="installs">
      {({ total }) =>
        total === 0 ? (
          <p>This account has no installs yet.</p>
        ) : (
          <MoveForm site={site} environment={environment} onClose={onClose} />
        )
      }
    </Loaded>
  );
}

function MoveForm({ site, environment, onClose }: Place & { onClose(): void }) {
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<ListedInstall | null>(null);

  async function move() {
    if (chosen === null) return;
    await moveWithUndo(
      queries,
      chosen.id,
      { site_id: site.id, environment },
      (name) => `${name} is now ${environmentLabel(environment)} of ${site.name}.`,
    );
    onClose();
  }

  return (
    <Form
      submitLabel="Move install"
      actions={<Button onClick={onClose}>Cancel</Button>}
      onSubmit={move}
      fieldOf={() => 'install_id'}
    >
      <InstallField accountId={site.account.id} chosen={chosen} onChange={setChosen} />
    </Form>
  );
}

/** A choice of an install of the account. The server searches them. */
function InstallField({
  accountId,
  chosen,
  onChange,
}: {
  accountId: string;
  chosen: ListedInstall | null;
  onChange(install: ListedInstall | null): void;
}) {
  const { setTyped, asked, isPaused } = useSearchText();
  const { data, isPlaceholderData } = useFirstInstalls(accountId, asked === '' ? {} : { search: asked });
  const found = data?.results ?? [];
  return (
    <ChoiceField
      label="Install"
      name="install_id"
      required
      value={chosen?.id ?? ''}
      chosen={chosen === null ? undefined : optionOf(chosen)}
      onChange={(id) => onChange([...found, chosen].find((install) => install?.id === id) ?? null)}
      options={[{ value: '', label: 'Select an install' }, ...found.map(optionOf)]}
      onServer={{ total: data?.total, onSearch: setTyped, isSettled: isPaused && !isPlaceholderData }}
    />
  );
}

const optionOf = (install: ListedInstall) => ({
  value: install.id,
  label: `${install.name}: ${whereIs(install)}`,
});

function whereIs({ site_name: site, environment }: ListedInstall): string {
  if (site === null) return 'no site';
  return environment === null ? `no environment, ${site}` : `${environmentLabel(environment)} of ${site}`;
}
