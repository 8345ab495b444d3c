// Groups rows by a key of which each row has its own, so that every row crosses the shuffle. Janino compiles this at
// the start: the compiler that Spark SQL has for its own queries (no lambdas, no generics).
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

public class Shuffle {
    public static void main(String[] arguments) {
        long rows = Long.parseLong(arguments[0]);
        int tasks = Integer.parseInt(arguments[1]);
        SparkSession spark = SparkSession.builder().getOrCreate();
        spark.range(0L, rows, 1L, tasks)
            .selectExpr(new String[] {"xxhash64(id) AS key", "repeat('x', 92) AS value"})
            .createOrReplaceTempView("input");
        long begin = System.nanoTime();
        // Without the sum Spark would see that nobody asks for the values, and leave them where they are.
        Row result = (Row) spark.sql("SELECT count(*), sum(length(longest)) FROM"
            + " (SELECT key, max(value) AS longest FROM input GROUP BY key)").first();
        System.out.println("rows,groups,value_bytes,microseconds");
        System.out.println(rows + "," + result.getLong(0) + "," + result.getLong(1) + ","
            + (System.nanoTime() - begin) / 1000);
        spark.stop();
        if (result.getLong(0) != rows || result.getLong(1) != 92 * rows) {
            System.exit(1);
        }
    }
}
