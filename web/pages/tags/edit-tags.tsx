import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { SelectedInstall } from '../../api/install-list.ts';
import { INSTALL_LIST } from '../../api/query-keys.ts';
import type { ChangedSite } from '../../api/sites.ts';
import { slicesOf } from '../../api/slices.ts';
import { type AccountTag, useTags } from '../../api/tags.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/fields.tsx';
import { useFocusOnMount } from '../../components/focus-on-mount.ts';
import { Form, textOf } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { offerUndo } from '../../components/offer-undo.ts';
import { LONGEST_TAG, MOST_TAGS_OF_SITE } from '../../components/tag-names.ts';
import { TagsField } from '../../components/tags-field.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { changeTags, changeTagsBack } from './change-tags.ts';
import styles from './edit-tags.module.css';
import { MOST_A_REQUEST, type RetaggedSite, tagReversals, withoutKeys } from './tag-reversals.ts';

/** The selection of a list. */
export type Tagged =
  | { noun: 'site'; ids: readonly string[] }
  | { noun: 'install'; installs: readonly Pick<SelectedInstall, 'id' | 'site_id'>[] };

const counted = (count: number, noun: string) => (count === 1 ? `1 ${noun}` : `${count} ${noun}s`);

const EMPTY: readonly AccountTag[] = [];

/** The names of an account's tags, and functions that reload what shows tags, and that confirm a change and offer to undo it. */
function useAccountTags(accountId: string) {
  const queries = useQueryClient();
  const { data: tags = EMPTY } = useTags(accountId);
  const reload = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['site'] }),
      queries.invalidateQueries({ queryKey: ['install', accountId, INSTALL_LIST] }),
    ]);
  const announce = (sentence: string, changed: readonly RetaggedSite[]) => {
    const reversals = tagReversals(changed);
    if (reversals.length === 0) {
      showSuccess(sentence);
      return;
    }
    offerUndo(sentence, async () => {
      try {
        return await changeTagsBack(accountId, reversals);
      } finally {
        await reload();
      }
    });
  };
  return { names: tags.map(({ name }) => name), reload, announce };
}

const NO_CHANGE = { add: [], remove: [] };

/** The form with the tags of one site. */
export function SiteTagsForm({ site, onDone }: { site: ChangedSite; onDone(): void }) {
  const { names, reload, announce } = useAccountTags(site.account.id);
  // Only what the user changed is sent, so that tags that someone else adds meanwhile stay.
  const [{ add, remove }, setChange] = useState<{ add: readonly string[]; remove: readonly string[] }>(
    NO_CHANGE,
  );
  const tags = [...withoutKeys(site.tags, remove), ...withoutKeys(add, site.tags)];
  const isEdited = add.length + remove.length > 0;

  async function save() {
    const site_ids = [site.id];
    const changed = await changeTags(site.account.id, { add: [...add], remove: [...remove], site_ids });
    await reload();
    announce(`Saved the tags of ${site.name}.`, changed);
    onDone();
    return true;
  }

  return (
    <Form
      submitLabel="Save tags"
      draft={{ isEdited, isUnsaved: isEdited, conflicts: {}, save }}
      fieldOf={(field) => (/^(add|remove)\b/.test(field) ? 'tags' : field)}
    >
      <TagsField
        label="Tags"
        name="tags"
        hint={`At most ${MOST_TAGS_OF_SITE}.`}
        value={tags}
        onChange={(wanted) =>
          setChange({ add: withoutKeys(wanted, site.tags), remove: withoutKeys(site.tags, wanted) })
        }
        suggestions={names}
        mayCreate
      />
    </Form>
  );
}

/** The form that adds tags to the selected sites or installs, and removes others. */
export function TagSelectionForm({
  accountId,
  selected: asked,
  onDone,
}: {
  accountId: string;
  selected: Tagged;
  onDone(): void;
}) {
  const { names, reload, announce } = useAccountTags(accountId);
  // Later changes of the list do not change what was selected when the dialog opened.
  const [selected] = useState(asked);
  const [add, setAdd] = useState<readonly string[]>([]);
  const [remove, setRemove] = useState<readonly string[]>([]);
  const ids = selected.noun === 'site' ? selected.ids : selected.installs.map(({ id }) => id);
  const alone =
    selected.noun === 'site' ? 0 : selected.installs.filter(({ site_id }) => site_id === null).length;

  async function change() {
    const changed: RetaggedSite[] = [];
    const announceChanged = () =>
      announce(`Changed the tags of ${counted(changed.length, 'site')}.`, changed);
    try {
      for (const some of slicesOf(ids, MOST_A_REQUEST)) {
        const targets = selected.noun === 'site' ? { site_ids: some } : { install_ids: some };
        changed.push(...(await changeTags(accountId, { add: [...add], remove: [...remove], ...targets })));
      }
    } catch (error) {
      // The requests before the failed one count.
      if (changed.length > 0) announceChanged();
      throw error;
    } finally {
      await reload();
    }
    if (changed.length === 0) showSuccess('These sites had these tags already.');
    else announceChanged();
    onDone();
  }

  return (
    <Form
      submitLabel={`Change ${counted(ids.length, selected.noun)}`}
      disabled={add.length + remove.length === 0 || alone === ids.length}
      onSubmit={change}
    >
      {alone > 0 && (
        <p>
          {alone === ids.length
            ? 'The selected installs have no site. Move them to a site to tag them.'
            : `${counted(alone, 'install')} without a site cannot have tags.`}
        </p>
      )}
      <TagsField label="Add" name="add" value={add} onChange={setAdd} suggestions={names} mayCreate />
      {names.length > 0 && (
        <TagsField label="Remove" name="remove" value={remove} onChange={setRemove} suggestions={names} />
      )}
    </Form>
  );
}

/** The tags of an account, each with its size and what can be done with it. */
export function TagList({ accountId }: { accountId: string }) {
  const tags = useTags(accountId);
  return (
    <Loaded query={tags} what="tags">
      {(all) =>
        all.length === 0 ? (
          <p>No site has a tag.</p>
        ) : (
          <ul className={styles.list}>
            {all.map((tag) => (
              <TagItem key={tag.name} accountId={accountId} tag={tag} />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

function TagItem({ accountId, tag }: { accountId: string; tag: AccountTag }) {
  const { reload, announce } = useAccountTags(accountId);
  const [asked, setAsked] = useState<'rename' | 'remove' | null>(null);
  const renameButton = useRef<HTMLButtonElement>(null);
  const removeButton = useRef<HTMLButtonElement>(null);
  const path = { params: { path: { account_id: accountId } } };
  const size = `${counted(tag.site_count, 'site')}, ${counted(tag.install_count, 'install')}`;

  /** Returns the focus from the form to the button that opened it. */
  function close() {
    (asked === 'rename' ? renameButton : removeButton).current?.focus();
    setAsked(null);
  }

  async function rename(name: string) {
    const renamed = await unwrap(
      hosting.POST('/accounts/{account_id}/tags/rename', {
        ...path,
        body: { name: tag.name, new_name: name },
      }),
    );
    showSuccess(`Renamed the tag ${tag.name} to ${renamed.name}.`);
    close();
    await reload();
  }

  async function remove() {
    const { site_ids } = await unwrap(
      hosting.POST('/accounts/{account_id}/tags/remove', { ...path, body: { name: tag.name } }),
    );
    announce(
      `Removed the tag ${tag.name}.`,
      site_ids.map((site_id) => ({ site_id, tags: [], former_tags: [tag.name] })),
    );
    await reload();
  }

  return (
    <li className={styles.item}>
      <div className={styles.line}>
        <strong className={styles.name}>{tag.name}</strong>
        <span className={styles.size}>{size}</span>
        <Button ref={renameButton} small aria-label={`Rename ${tag.name}`} onClick={() => setAsked('rename')}>
          Rename
        </Button>
        <Button ref={removeButton} small aria-label={`Remove ${tag.name}`} onClick={() => setAsked('remove')}>
          Remove
        </Button>
      </div>
      {asked === 'rename' && <RenameTag tag={tag} onRename={rename} onCancel={close} />}
      {asked === 'remove' && <RemoveTag tag={tag} onRemove={remove} onCancel={close} />}
    </li>
  );
}

function RenameTag({
  tag,
  onRename,
  onCancel,
}: {
  tag: AccountTag;
  onRename(name: string): Promise<void>;
  onCancel(): void;
}) {
  const field = useFocusOnMount<HTMLInputElement>();
  return (
    <Form
      submitLabel="Rename tag"
      actions={<Button onClick={onCancel}>Cancel</Button>}
      onSubmit={(values) => onRename(textOf(values, 'new_name'))}
    >
      <TextField
        ref={field}
        label="New name"
        name="new_name"
        hint="If a tag of this name exists, both become one."
        required
        maxLength={LONGEST_TAG}
        defaultValue={tag.name}
        autoComplete="off"
      />
    </Form>
  );
}

/** Asks before a tag is removed. Cancel has the focus, so that Enter removes nothing. */
function RemoveTag({
  tag,
  onRemove,
  onCancel,
}: {
  tag: AccountTag;
  onRemove(): Promise<void>;
  onCancel(): void;
}) {
  const cancel = useFocusOnMount<HTMLButtonElement>();
  return (
    <Form
      submitLabel="Remove tag"
      danger
      actions={
        <Button ref={cancel} onClick={onCancel}>
          Cancel
        </Button>
      }
      onSubmit={onRemove}
    >
      <p>This removes the tag from {counted(tag.site_count, 'site')}. It deletes no site.</p>
    </Form>
  );
}
