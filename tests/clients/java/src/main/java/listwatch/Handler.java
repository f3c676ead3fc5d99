package listwatch;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Keeps a picture from what it is told, and counts what it should never be told. */
final class Handler implements ResourceEventHandler<ConfigMap> {
  private final Map<String, String> told = new TreeMap<>();
  private int added;
  private int updated;
  private int deleted;
  private int tombstones;
  private int illegal;

  @Override
  public synchronized void onAdd(ConfigMap map) {
    if (isOurs(map)) {
      added++;
      if (told.put(map.getMetadata().getName(), versionOf(map)) != null) {
        illegal++;
      }
    }
  }

  @Override
  public synchronized void onUpdate(ConfigMap old, ConfigMap map) {
    if (isOurs(map)) {
      updated++;
      if (!versionOf(old).equals(told.put(map.getMetadata().getName(), versionOf(map)))) {
        illegal++;
      }
    }
  }

  @Override
  public synchronized void onDelete(ConfigMap map, boolean finalStateUnknown) {
    if (isOurs(map)) {
      deleted++;
      tombstones += finalStateUnknown ? 1 : 0;
      if (told.remove(map.getMetadata().getName()) == null) {
        illegal++;
      }
    }
  }

  synchronized Map<String, String> picture() {
    return new TreeMap<>(told);
  }

  synchronized String record() {
    return String.format(
        "{\"added\": %d, \"updated\": %d, \"deleted\": %d, \"tombstones\": %d, \"illegal\": %d}",
        added, updated, deleted, tombstones, illegal);
  }

  /** The root certificate that controllers put into each namespace is not ours. */
  static boolean isOurs(ConfigMap map) {
    return map.getMetadata().getName().startsWith("object-");
  }

  static Map<String, String> versions(List<ConfigMap> maps) {
    Map<String, String> found = new TreeMap<>();
    for (ConfigMap map : maps) {
      if (isOurs(map)) {
        found.put(map.getMetadata().getName(), versionOf(map));
      }
    }
    return found;
  }

  private static String versionOf(ConfigMap map) {
    return map.getMetadata().getResourceVersion();
  }
}
