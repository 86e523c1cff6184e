// Commands beside the daemon find its store without its environment, whatever else is wrong with the file.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlaces } from '../../src/config/places.ts';
import { Workplace } from '../support/process.ts';

function placesOf(config: object | string, environment: Record<string, string> = {}) {
  using place = new Workplace();
  const places = loadPlaces(place.configure(config), environment);
  return { folder: place.folder, places };
}

describe('the place of the store', () => {
  it('is found beside keys whose environment is not there and sections that are wrong', () => {
    const accounts = [{ name: 'acme', api_key: '$' + '{NO_SUCH_KEY}', nonsense: 1 }];
    const { folder, places } = placesOf({ accounts, no_such_section: 1, store: { url: 'sqlite:./here.db' } });
    expect(places).toEqual({
      ok: true,
      store: join(folder, 'here.db'),
      recipesFolder: join(folder, 'recipes'),
      accountNames: ['acme'],
    });
  });

  it('may stand in the environment', () => {
    const { folder, places } = placesOf({ store: { url: 'sqlite:$' + '{STORE}' } }, { STORE: 'there.db' });
    expect(places).toMatchObject({ store: join(folder, 'there.db') });
  });

  it('is a problem with its line when it is wrong itself', () => {
    const { places } = placesOf({ accounts: [], store: { url: 'mysql:x' } });
    expect(places).toMatchObject({ ok: false, problems: [{ line: 3, path: 'store.url' }] });
    expect(placesOf('- a list').places).toMatchObject({ ok: false });
    expect(loadPlaces('/no/such/file', {})).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('does not exist') }],
    });
  });
});
