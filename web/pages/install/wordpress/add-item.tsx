import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { CheckboxField, RadioGroup, TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { showFailure, showOperation } from '../../../components/toast.tsx';
import { afterChange } from '../operations/after-change.ts';

const SOURCES = ['slug', 'path', 'url'] as const;
type Source = (typeof SOURCES)[number];

const WORDS: Record<Source, { option: string; label: string; hint: string }> = {
  slug: {
    option: 'wordpress.org',
    label: 'Slug',
    hint: 'The last part of its address on wordpress.org, for example: akismet',
  },
  path: {
    option: 'ZIP file on this install',
    label: 'Path',
    hint: 'Upload the file by SFTP, for example: private/shop.zip',
  },
  url: { option: 'ZIP file from a URL', label: 'URL', hint: 'A public address that begins with https://' },
};

/** A button and a dialog that install a plugin or theme. */
export function AddItem({ installId, kind }: { installId: string; kind: 'plugin' | 'theme' }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Install {kind}</Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Install a ${kind}`}
        description="A backup is made first, and restored if a page fails afterwards."
      >
        <AddForm installId={installId} kind={kind} onStarted={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function AddForm({
  installId,
  kind,
  onStarted,
}: {
  installId: string;
  kind: 'plugin' | 'theme';
  onStarted(): void;
}) {
  const queries = useQueryClient();
  const [source, setSource] = useState<Source>('slug');
  const [place, setPlace] = useState('');
  const [activate, setActivate] = useState(false);
  const { label, hint } = WORDS[source];
  const install = async (keep: boolean) => {
    const operationId = await unwrapStarted(
      hosting.POST('/installs/{install_id}/wordpress/installations', {
        params: { path: { install_id: installId } },
        body: { kind, [source]: place.trim(), activate, keep },
      }),
    );
    showOperation(operationId, {
      busy: `Installing the ${kind}.`,
      ...afterChange(
        `The ${kind} is installed.`,
        `Install ${place.trim()}`,
        () => void install(true).catch(showFailure),
      ),
    });
    await queries.invalidateQueries({ queryKey: ['operation', installId] });
  };
  return (
    <Form
      submitLabel={`Install ${kind}`}
      onSubmit={async () => {
        await install(false);
        onStarted();
      }}
    >
      <RadioGroup
        label="Source"
        name="source"
        value={source}
        onValue={(value) => setSource(SOURCES.find((one) => one === value) ?? source)}
        options={SOURCES.map((value) => ({ value, label: WORDS[value].option }))}
      />
      <TextField
        label={label}
        name={source}
        hint={hint}
        required
        value={place}
        onChange={(event) => setPlace(event.currentTarget.value)}
      />
      <CheckboxField
        label="Activate it"
        name="activate"
        checked={activate}
        onChange={(event) => setActivate(event.currentTarget.checked)}
      />
    </Form>
  );
}
