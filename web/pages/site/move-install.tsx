import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { type Install, useInstalls } from '../../api/installs.ts';
import { type Site, useSites } from '../../api/sites.ts';
import { Button } from '../../components/button.tsx';
import { ChoiceField } from '../../components/choice-field.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type Environment, environmentLabel } from '../../components/environments.ts';
import { Form, textOf } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { sortRows } from '../../components/sort-rows.ts';
import { showSuccess } from '../../components/toast.tsx';

interface Place {
  siteId: string;
  environment: Environment;
}

/** Moves an existing install into an environment of the site. The dialog is closed while `place` is undefined. */
export function MoveInstallDialog({
  site,
  place,
  onClose,
}: {
  site: Site;
  place: Place | undefined;
  onClose(): void;
}) {
  return (
    <Dialog
      open={place !== undefined}
      onOpenChange={(open) => open || onClose()}
      title="Move install here"
      description={
        place &&
        `The install becomes ${environmentLabel(place.environment)} of ${site.name}. This does not affect the website.`
      }
    >
      {place && <Choice site={site} place={place} onClose={onClose} />}
    </Dialog>
  );
}

function Choice({ site, place, onClose }: { site: Site; place: Place; onClose(): void }) {
  const installs = useInstalls(site.account.id);
  return (
    <Loaded query={installs} what="installs">
      {(all) =>
        all.length === 0 ? (
          <p>This account has no installs yet.</p>
        ) : (
          <MoveForm installs={all} site={site} place={place} onClose={onClose} />
        )
      }
    </Loaded>
  );
}

function MoveForm({
  installs,
  site,
  place,
  onClose,
}: {
  installs: readonly Install[];
  site: Site;
  place: Place;
  onClose(): void;
}) {
  const queries = useQueryClient();
  const { data: sites = [] } = useSites(site.account.id);
  const names = new Map(sites.map(({ id, name }) => [id, name]));

  async function move(values: FormData) {
    const install = await unwrap(
      hosting.PATCH('/installs/{install_id}', {
        params: { path: { install_id: textOf(values, 'install_id') } },
        body: { site_id: place.siteId, environment: place.environment },
      }),
    );
    await Promise.all(['site', 'install'].map((topic) => queries.invalidateQueries({ queryKey: [topic] })));
    showSuccess(`${install.name} is now ${environmentLabel(place.environment)} of ${site.name}.`);
    onClose();
  }

  return (
    <Form
      submitLabel="Move install"
      actions={<Button onClick={onClose}>Cancel</Button>}
      onSubmit={move}
      fieldOf={() => 'install_id'}
    >
      <ChoiceField
        label="Install"
        name="install_id"
        required
        options={[
          { value: '', label: 'Select an install' },
          ...sortRows(installs, ({ name }) => name, 'ascending').map((install) => ({
            value: install.id,
            label: `${install.name}: ${whereIs(install, names)}`,
          })),
        ]}
      />
    </Form>
  );
}

function whereIs({ site, environment }: Install, names: ReadonlyMap<string, string>): string {
  if (site === null) return 'no site';
  const name = names.get(site.id) ?? 'another site';
  return environment === null ? `no environment, ${name}` : `${environmentLabel(environment)} of ${name}`;
}
