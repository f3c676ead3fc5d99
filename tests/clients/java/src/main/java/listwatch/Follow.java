package listwatch;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/**
 * Lets a fabric8 SharedIndexInformer follow 1,000 objects through all that happens to them.
 *
 * <p>It writes one word for each stage that needs the test's help, waits for a line, and ends with a
 * record of what it saw. Any difference between cache and server is an error.
 */
public final class Follow {
  private static final int OBJECTS = 1000;
  private static final long PATIENCE = TimeUnit.SECONDS.toMillis(60);
  private static final String NAMESPACE = "follow-fabric8";

  private final KubernetesClient client;
  private final ExecutorService writers = Executors.newFixedThreadPool(8);
  private final Handler handler = new Handler();
  private final BufferedReader helped = new BufferedReader(new InputStreamReader(System.in));

  private Follow(KubernetesClient client) {
    this.client = client;
  }

  /** Arguments: the kubeconfig, and the address to use instead of the one in it. */
  public static void main(String[] arguments) throws Exception {
    Config config = Config.fromKubeconfig(new File(arguments[0]));
    config.setMasterUrl(arguments[1]);
    int status = 1; // its threads would keep the program from ending by an exception
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      new Follow(client).run();
      status = 0;
    } catch (Exception error) {
      error.printStackTrace();
    }
    System.exit(status);
  }

  private void run() throws Exception {
    client.namespaces()
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .create();
    each(0, OBJECTS / 2, this::create);
    SharedIndexInformer<ConfigMap> informer =
        client.configMaps().inNamespace(NAMESPACE).runnableInformer(0);
    informer.addIndexers(
        Map.of("parity", map -> List.of(Handler.isOurs(map)
            ? map.getMetadata().getLabels().get("parity")
            : "")));
    informer.addEventHandler(handler);
    informer.exceptionHandler((started, error) -> true);
    informer.start().toCompletableFuture().get(PATIENCE, TimeUnit.MILLISECONDS);

    equal("sync", informer);
    each(OBJECTS / 2, OBJECTS, this::create);
    equal("creates", informer);
    each(0, OBJECTS, this::update);
    equal("updates", informer);
    each(0, 100, this::delete);
    equal("deletes", informer);
    // The server is stopped and started: the watch goes on where it was.
    help("restart");
    each(100, 200, this::update);
    each(200, 300, this::delete);
    equal("restart", informer);
    // Nobody can reach it while others change, delete and create, and the log is compacted.
    help("relist");
    equal("relist", informer);
    each(900, 1000, this::update);
    equal("after relist", informer);
    informer.close();
    System.out.println(handler.record());
  }

  private static String name(int number) {
    return String.format("object-%04d", number);
  }

  private void create(int number) {
    client.configMaps()
        .inNamespace(NAMESPACE)
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName(name(number))
                .addToLabels("parity", String.valueOf(number % 2))
                .endMetadata()
                .addToData("text", "größe 变更")
                .build())
        .create();
  }

  private void update(int number) {
    ConfigMap found = client.configMaps().inNamespace(NAMESPACE).withName(name(number)).require();
    found.getData().put("updated", found.getMetadata().getResourceVersion());
    client.configMaps().inNamespace(NAMESPACE).resource(found).update();
  }

  private void delete(int number) {
    client.configMaps().inNamespace(NAMESPACE).withName(name(number)).delete();
  }

  private void each(int from, int to, IntConsumer write) throws Exception {
    List<Callable<Void>> calls = new ArrayList<>();
    for (int number = from; number < to; number++) {
      int each = number;
      calls.add(
          () -> {
            write.accept(each);
            return null;
          });
    }
    for (Future<Void> done : writers.invokeAll(calls)) {
      try {
        done.get();
      } catch (ExecutionException error) {
        throw new IllegalStateException(error.getCause());
      }
    }
  }

  private void help(String stage) throws Exception {
    System.out.println(stage);
    System.out.flush();
    if (helped.readLine() == null) {
      throw new IllegalStateException("nobody helped with " + stage);
    }
  }

  /** Waits until store, index and handler are the server's state, as a consistent list tells it. */
  private void equal(String stage, SharedIndexInformer<ConfigMap> informer) throws Exception {
    long deadline = System.currentTimeMillis() + PATIENCE;
    while (true) {
      Map<String, String> truth = truth();
      List<ConfigMap> indexed = new ArrayList<>(informer.getIndexer().byIndex("parity", "0"));
      indexed.addAll(informer.getIndexer().byIndex("parity", "1"));
      Map<String, Map<String, String>> views =
          Map.of(
              "the store", Handler.versions(informer.getStore().list()),
              "the index", Handler.versions(indexed),
              "the handler", handler.picture());
      String different =
          views.entrySet().stream()
              .filter(view -> !view.getValue().equals(truth))
              .map(view -> view.getKey() + " has " + view.getValue().size())
              .findFirst()
              .orElse("");
      if (different.isEmpty()) {
        System.err.println(stage + " done");
        return;
      }
      if (System.currentTimeMillis() > deadline) {
        throw new IllegalStateException(
            stage + ": " + different + " objects where the server has " + truth.size());
      }
      Thread.sleep(100);
    }
  }

  private Map<String, String> truth() {
    Map<String, String> state = new TreeMap<>();
    String token = null;
    do {
      ConfigMapList page =
          client.configMaps()
              .inNamespace(NAMESPACE)
              .list(new ListOptionsBuilder().withLimit(300L).withContinue(token).build());
      state.putAll(Handler.versions(page.getItems()));
      token = page.getMetadata().getContinue();
    } while (token != null && !token.isEmpty());
    return state;
  }
}
